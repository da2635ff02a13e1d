"""A folder tree that answers tool calls: one for each rollout, opened from the task's `folder`."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping
from typing import Any

from whileai_hf.sandbox import ActiveRollout, current_rollout


Reply = dict[str, Any]
_PROTECTED = "/system/"


class Folder:
    """
    Files by path.

    Args:
        files (`Mapping[str, str]`):
            Their texts.
        flaky (`str`, *optional*):
            A tool that times out the first time it is called.
    """

    def __init__(self, files: Mapping[str, str], flaky: str | None = None) -> None:
        self.files = dict(files)
        self._flaky = flaky

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        """Answers one call; whatever the arguments are, it is an answer."""
        if tool == self._flaky:
            self._flaky = None
            return {"status": "timeout", "error": f"{tool} did not answer in time, and nothing was done"}
        tools = {
            "list_files": self._list,
            "read_file": self._read,
            "write_file": self._write,
            "move_files": self._move,
            "delete_files": self._delete,
        }
        if tool not in tools:
            return {"status": "unknown_tool", "error": f"there is no tool {tool!r}; there are {', '.join(tools)}"}
        try:
            return tools[tool](arguments)
        except (KeyError, TypeError, AttributeError) as error:
            return {"status": "invalid_arguments", "error": f"{tool} cannot read its arguments: {error!r}"}

    def _list(self, arguments: Mapping[str, Any]) -> Reply:
        under = arguments["path"].rstrip("/") + "/"
        found = [path for path in sorted(self.files) if path.startswith(under)]
        if not found:
            return {"status": "not_found", "error": f"no file is in {under}"}
        return {"status": "ok", "files": [{"path": path, "size": len(self.files[path])} for path in found]}

    def _read(self, arguments: Mapping[str, Any]) -> Reply:
        path = arguments["path"]
        if path not in self.files:
            return _missing([path])
        return {"status": "ok", "path": path, "text": self.files[path]}

    def _write(self, arguments: Mapping[str, Any]) -> Reply:
        file = arguments["file"]
        path, text, mode = file["path"], file["text"], file.get("mode", "create")
        if not isinstance(path, str) or not isinstance(text, str):
            return {"status": "invalid_arguments", "error": "path and text have to be text"}
        if mode not in ("create", "append", "overwrite"):
            return {"status": "invalid_arguments", "error": f"mode {mode!r} is not create, append or overwrite"}
        if path.startswith(_PROTECTED):
            return _protected([path])
        if mode == "create" and path in self.files:
            return _taken([path])
        self.files[path] = self.files.get(path, "") + text if mode == "append" else text
        return {"status": "updated", "path": path, "size": len(self.files[path])}

    def _move(self, arguments: Mapping[str, Any]) -> Reply:
        """Makes all moves or none."""
        moves = [(move["from"], move["to"]) for move in arguments["moves"]]
        protected = [path for move in moves for path in move if path.startswith(_PROTECTED)]
        missing = [source for source, _ in moves if source not in self.files]
        taken = [target for _, target in moves if target in self.files]
        if protected:
            return _protected(protected)
        if missing:
            return _missing(missing)
        if taken:
            return _taken(taken)
        if len({path for move in moves for path in move}) < 2 * len(moves):
            return {"status": "invalid_arguments", "error": "a path is named in two moves"}
        for source, target in moves:
            self.files[target] = self.files.pop(source)
        return {"status": "updated", "moved": len(moves)}

    def _delete(self, arguments: Mapping[str, Any]) -> Reply:
        """Deletes all or none."""
        paths = arguments["paths"]
        if not isinstance(paths, list):
            return {"status": "invalid_arguments", "error": "paths has to be a list"}
        paths = list(dict.fromkeys(paths))
        protected = [path for path in paths if path.startswith(_PROTECTED)]
        missing = [path for path in paths if path not in self.files]
        if protected:
            return _protected(protected)
        if missing:
            return _missing(missing)
        for path in paths:
            del self.files[path]
        return {"status": "deleted", "deleted": len(paths)}


def _missing(paths: list[str]) -> Reply:
    return {"status": "not_found", "error": f"there is no file {', '.join(paths)}; nothing was done"}


def _taken(paths: list[str]) -> Reply:
    return {"status": "conflict", "error": f"there is a file {', '.join(paths)} already; nothing was done"}


def _protected(paths: list[str]) -> Reply:
    return {"status": "permission_denied", "error": f"{', '.join(paths)} may not be changed; nothing was done"}


def open_folder(task: Mapping[str, Any]) -> Folder:
    """The tree a task starts with."""
    folder = task["folder"]
    return Folder({file["path"]: file["text"] for file in folder["files"]}, folder.get("flaky"))


_folders: weakref.WeakKeyDictionary[ActiveRollout, Folder] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def execute(tool: str, arguments: dict[str, Any]) -> Reply:
    """Answers a call in the tree of the rollout that makes it."""
    rollout = current_rollout()
    with _lock:
        folder = _folders.get(rollout)
        if folder is None:
            folder = _folders[rollout] = open_folder(rollout.task)
        return folder.call(tool, arguments)
