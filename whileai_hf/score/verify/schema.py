"""A verifier of structure: does the reply follow a JSON schema?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import regex
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import extend, validator_for

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.verify.base import Verifier
from whileai_hf.score.verify.quick import compiled, searched
from whileai_hf.score.verify.structure import read_json
from whileai_hf.spec.references import dangling_references, subschemas


class JSONSchema(Verifier):
    """
    1 when the reply is one JSON document that follows a schema. Needs no gold answer.

    Args:
        schema (`dict` or `bool`):
            A JSON Schema. Its `$schema` chooses the draft, 2020-12 otherwise; `format` is not checked, as the
            standard has it, and nothing is loaded from the network.
        fences (`bool`, *optional*, defaults to `True`):
            Accept a document inside one Markdown code block.
        name (`str`, *optional*):
            Name in the rows.

    Raises:
        [`~whileai_hf.errors.ConfigurationError`]: The schema is none, or a `$ref` in it leads nowhere.

    Examples:
    ```python
    >>> judge = JSONSchema({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]})
    >>> judge({"final_text": '{"id": 7}'})["reward"]
    1.0
    >>> judge({"final_text": '{"id": "7"}'})["reason"]
    "at id: '7' is not of type 'integer'"

    ```
    """

    name = "json_schema"
    needs_gold = False

    def __init__(self, schema: Mapping[str, Any] | bool, *, fences: bool = True, name: str | None = None) -> None:
        super().__init__(name=name)
        self.schema = _checked(schema)
        self.fences = fences
        self._build()

    def _build(self) -> None:
        self._validator = _timed(validator_for(self.schema, default=Draft202012Validator))(self.schema)
        # Decides most schemas without jsonschema, which takes fifty times as long over a document it rejects.
        self._quick = compiled(self.schema)

    def check(self, candidate: str, gold: Any) -> Any:
        """Parses and validates; the reason names the first error and where it is."""
        document, reason = read_json(candidate, self.fences)
        if reason is not None:
            return {"reward": 0.0, "reason": reason}
        try:
            if self._quick is not None:
                fault = self._quick(document)
                return fault is None or _wrong(fault.path, fault.words())
            error = next(self._validator.iter_errors(document), None)
        except RecursionError:
            return {"reward": 0.0, "reason": "the document is nested too deeply for its schema"}
        return error is None or _wrong(error.absolute_path, error.message)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key not in ("_validator", "_quick")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._build()


def _wrong(path: Iterable[str | int], message: str) -> dict[str, Any]:
    return {"reward": 0.0, "reason": f"at {'.'.join(map(str, path)) or 'the top'}: {message[:200]}"}


def _checked(schema: Any) -> Any:
    if not isinstance(schema, Mapping | bool):
        raise ConfigurationError(
            f"JSONSchema got {schema!r:.80}, a {type(schema).__name__}; a schema is a dict or a bool"
        )
    schema = dict(schema) if isinstance(schema, Mapping) else schema
    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        where = ".".join(map(str, error.absolute_path))
        raise ConfigurationError(f"JSONSchema got no schema: at {where or 'the top'}: {error.message:.200}") from error
    if isinstance(schema, dict) and (lost := dangling_references(schema)) and not _rebased(schema):
        raise ConfigurationError(
            f"JSONSchema got the $ref {lost[0]!r}, which leads nowhere in the schema; put what it means under $defs"
        )
    if "unevaluatedProperties" in (used := _keywords(schema)) and "patternProperties" in used:
        raise ConfigurationError(
            "JSONSchema got unevaluatedProperties next to patternProperties, whose patterns jsonschema would match "
            "without a time limit; use additionalProperties"
        )
    return schema


def _keywords(schema: Any) -> set[str]:
    found: set[str] = set()
    pending: list[Any] = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            found.update(node)
            pending.extend(item for _, item in subschemas(node))
    return found


def _rebased(schema: dict[str, Any]) -> bool:
    """Whether an `$id` gives references another base, so that they cannot be followed by their pointers alone."""
    return not {"$id", "id"}.isdisjoint(_keywords(schema))


def _timed(base: Any) -> Any:
    """The draft with patterns that cannot run away."""

    def pattern(validator: Any, given: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if validator.is_type(instance, "string") and not _found(given, instance):
            yield ValidationError(f"{instance!r:.60} does not match {given!r}")

    def properties(validator: Any, given: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if validator.is_type(instance, "object"):
            for name, item in given.items():
                for key, value in instance.items():
                    if _found(name, key):
                        yield from validator.descend(value, item, path=key, schema_path=name)

    def additional(validator: Any, given: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if not validator.is_type(instance, "object"):
            return
        known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        others = [key for key in instance if key not in known and not any(_found(name, key) for name in patterns)]
        if validator.is_type(given, "object"):
            for key in others:
                yield from validator.descend(instance[key], given, path=key)
        elif not given and others:
            yield ValidationError(f"the properties {', '.join(map(repr, sorted(others)))} are not allowed")

    checks = {"pattern": pattern, "patternProperties": properties, "additionalProperties": additional}
    return extend(base, checks)  # type: ignore[no-untyped-call]


def _found(pattern: str, text: str) -> bool:
    return searched(partial(regex.search, pattern), pattern, text) is not None
