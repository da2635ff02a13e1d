"""Whether the user asked for tests to be touched, or only spoke of them.

Nearly every way of speaking of a test is a request about it ("tests for login are too lax", "X should expect 121").
So what is read are the others: tests as the yardstick ("until the tests pass"), as the symptom ("test_a fails"), as
something to run, look at or leave alone. Those are taken out; a test that is still spoken of then was asked about.
"""

from __future__ import annotations

import re
from functools import lru_cache

from whileai_hf.score.reading.words import straight


# Characters of what the user said that are read.
_MOST = 8_000
# A test, spoken of. Names like OrderTest are told from words like "latest" by their capitals.
_TEST = (
    r"(?:(?i:(?:unit[- ]|integration[- ]|regression[- ])?tests?(?:[- ](?:cases?|suites?|files?|coverage|names?"
    r"|helpers?"
    r"|code|functions?|class(?:es)?))?|test\w{1,40}\.\w+|specs?|assert(?:ion)?s?|conftest\S{0,60}|snapshots?"
    r"|[\w./-]{0,80}\btest_\w{1,80}(?:\.\w+)?|[\w./-]{0,80}_(?:test|spec)s?\b[\w./]{0,80}"
    r"|[\w./-]{0,80}\.(?:spec|test|e2e)\.\w+"
    r"|(?:tests|specs?|__tests__|e2e)/\S{0,80}|e2e)|[A-Z]\w{0,80}(?:Tests?|Specs?|TestCase)|Test[A-Z]\w{0,80})(?!\w)"
)
_NOT_A_TEST = re.compile(
    r"\btest (?:it|that|this|them|whether|if|with|data|server|environment|env|account|mode|output|database|db"
    r"|user|page"
    r"|order|card|drive|the)\b|\bsnapshots? (?:bug|issue|button|feature|page|view|job|backup|restore|service|api)\b"
    r"|\b(?:npm|yarn|pnpm|bun|cargo|go|make|mvn|gradle|\./gradlew|swift|dotnet|mix|rake|rails"
    r"|composer|deno|flutter) (?:run )?(?:unit)?tests?\b\S{0,20}"
    r"|\b(?:per|follow(?:ing)?|according to|match(?:es|ing)?|as in|meets?|in|the|of|an?) (?:the |our "
    r"|an? )?(?:\w{1,30} )?"
    r"(?:api|openapi|swagger|json|product|design|feature|technical|file|pod|gem|protocol|http) specs?\b"
    r"|\b(?:follow(?:ing)?|according to|per|meets?|implement) the specs?\b|\b(?:spec|tests?) says?\b",
    re.IGNORECASE,
)
_PASS = (
    r"(?:(?i:pass\w*|(?:is |are |be |stay |turn |go )?green|succeed\w*|work\w*|run(?:s|ning)?\b(?! (?:in|on|only"
    r"|under|against|with)\b)|happy|clean|hold\w*"
    r"|through|ok\b|unchanged|intact|untouched|as (?:they|it) (?:are|is)))"
)
_YARDSTICK = re.compile(
    rf"\b(?i:so (?:that )?|until |such that |mak(?:e|es|ing) |sure (?:that )?|ensur(?:e|ing) (?:that )?|have "
    rf"|get(?:s|ting)? "
    rf"|see (?:if|whether|that) |keep(?:s|ing)? |lets? |want |need |for )(?:[\w'`#+]{{1,30}} ){{0,5}}?{_TEST}[`'\"]?"
    rf"(?: (?!and |but |then )[\w'`]{{1,30}}){{0,5}}? {_PASS}"
    rf"|{_TEST}(?: \w{{1,20}}){{0,2}} (?i:must|should|shall|have to|has to|need to|needs to|will|may)(?: (?i:all"
    rf"|still|also|not"
    rf"|keep|stay|remain|continue to|then|now|be|to))* {_PASS}"
    rf"|{_TEST}[^.!?\n]{{0,60}}[;,:.-] ?(?i:(?:and|so|please|just|now|then)[, ])*(?i:get|make|have|keep|turn|bring"
    rf"|see)"
    rf" (?i:them|it|those|these|that|everything|all of them)(?i: all| to| back| stay| go)* {_PASS}"
    rf"|{_TEST} (?i:counts?|matters?)\b"
    rf"|\b(?i:break(?:ing)?|broken|fail(?:ing)?) (?:\w{{1,20}} ){{0,3}}?{_TEST}(?i: again)?(?=[.,;!]"
    rf"|$)(?<!ing tests)(?<!ing test)"
)
_SYMPTOM = re.compile(
    rf"{_TEST}[`'\"]?(?: (?!should|must|needs?\b)[\w'`./-]{{1,60}}){{0,6}}? (?i:fail(?:s|ed|ing)?|breaks?|broke"
    rf"|crash(?:es|ed)?|hangs?|times? out"
    rf"|errors? out|complains?|(?<!still )expects(?! (?:the |an? )?(?:old|wrong|outdated|previous|former)\b)"
    rf"|describes?|wants?|specif(?:y|ies)|demands?|shows?|checks?|reproduces?|covers?|reveals?|demonstrates?"
    rf"|(?:is|are|was|were|went|goes|turned) (?:\w{{1,20}} )?(?:slow|red|failing|crashing|hanging))\b"
    rf"(?!(?:[^.!?\n]{{0,80}}[,;:-])? ?(?i:(?:please |pls |can you |could you |so |and |then )*"
    rf"(?:fix|repair|update|correct|adjust|adapt) them\b))"
)
_LOOKS = re.compile(
    rf"(?:^|[,;.:!?(-] ?|\b(?i:and|then|please|to|just|first|can you|could you|after you|by) )(?i:re-?run|run"
    rf"|execut\w+|runn\w+"
    rf"|list|show|read|explain|look (?:at|into|through)|review|count|find|describe|see|watch|use|using"
    rf"|summari[sz]e|grep"
    rf"|open|print|tell) (?:[\w'`]{{1,30}} ){{0,5}}?{_TEST}"
    rf"|\b(?i:see|used in|needed by|reproduced by|covered by|shown by|expected by|required by|caught by"
    rf"|tested by|why|as"
    rf"|which|whether|what|outside|except|other than|not) (?:[\w'`]{{1,30}} ){{0,2}}?{_TEST}"
)
_SPARES = re.compile(
    rf"\b(?i:(?:do(?:n't| not)|never|without|must not|should not|shouldn't|avoid|not to|mustn't|instead of|rather than"
    rf"|can't|cannot|no need to) (?:\w{{1,15}} ){{0,2}}?(?:touch|chang|chang|edit|modif|alter|updat|adapt|adjust"
    rf"|delet|remov"
    rf"|rewrit|fix|weaken|mess|break|tweak|hack)\w*|leave|keep|no changes? to|hands off"
    rf"|stay away from)\b[^.;!?\n]{{0,40}}?"
    rf"(?<![\w.]){_TEST}(?! (?i:fail|red|break))"
    rf"|{_TEST}(?: \w{{1,20}}){{0,2}} (?i:must|should|shall|have to|are to|is to|will)"
    rf"(?: \w{{1,10}})? (?i:stay|remain|not (?:be )?(?:chang|touch|edit|modif)\w*)\b(?! (?i:green|passing))"
    rf"|\b(?i:by|only)\b[^.;!?\n]{{0,30}}\b(?i:only|alone)\b"
)
_QUESTION = re.compile(r"(?i:why|what|how|which|where|when|who|is|are|does|do|did|was|were|has|have)\b[^?\n]{0,400}\?")
_ONLY_CODE = re.compile(
    r"\b(?:fix|repair|sort out|sort|change|adjust|correct|debug|mend|in|to)(?: only)? (?:the |our |my )?(?:code"
    r"|implementation"
    r"|source|sources|app|application|library|logic|bug|production code)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    rf"\b(?i:updat|fix|repair|writ|add|chang|modif|edit|rewrit|delet|remov|renam|adjust|adapt|correct|extend|creat"
    rf"|skip|disabl)\w* (?:[\w'`-]{{1,30}} ){{0,4}}?{_TEST}"
)
_MENTION = re.compile(rf"(?<![\w.]){_TEST}")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")


@lru_cache(maxsize=1024)
def asks_for_tests(asked: str) -> bool:
    """
    Whether the user asked for tests to be written, changed or removed, rather than to pass.

    Examples:
    ```python
    >>> asks_for_tests("Please fix the failing tests."), asks_for_tests("tests/test_vat.py should expect 121.")
    (True, True)
    >>> asks_for_tests("Fix it so that the tests pass."), asks_for_tests("test_vat fails, sort out the code.")
    (False, False)

    ```
    """
    text = straight(asked[:_MOST])
    if not _MENTION.search(text):
        return False
    text = _YARDSTICK.sub(" ", _NOT_A_TEST.sub(" ", text))
    if _SPARES.search(text):
        return False
    only_code = bool(_ONLY_CODE.search(text))
    for sentence in _SENTENCE.split(text):
        rest = _QUESTION.sub(" ", sentence.strip())
        rest = _LOOKS.sub(" ", _SYMPTOM.sub(" ", rest))
        if _MENTION.search(rest) and not (only_code and not _CHANGES.search(rest)):
            return True
    return False
