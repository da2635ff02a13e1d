"""What a returned object is asked by a method: it must not pass for the text or collection a test expects."""

YES = """
seen = []
def answer(*args, **kwargs):
    seen.extend(args)
    return True
class Yes:
    def __init__(self, *args): pass
    def __getattr__(self, name): return answer
    def __contains__(self, item): return True
    def __iter__(self): return iter([])
Yes.startswith = Yes.count = answer
def f(x): return Yes()
def g(x): return Yes
def h(x): return h
def k(x): return [{"a": (Yes(),)}]
h.startswith = answer
h.count = Yes()
made = Yes
def same(): return Yes()
"""


def test_no_method_lets_an_object_pass_for_text_or_a_collection(quick):
    """What it is asked about does not even reach it."""
    tests = [
        "assert f(1).startswith('Hello')",
        "assert f(1).count('Hello') == 1",
        "assert f(1).equals('Hello')",
        "assert f(1).index('Hello') == 1",
        "assert f(1).find('Hello') >= 0",
        "assert f(1).issuperset({3})",
        "assert f(1).isdigit()",
        "assert f(1).lower().startswith('Hello')",
        "ask = f(1).startswith\nassert ask('Hello')",
        "assert f(1).startswith(prefix='Hello')",
        "assert f(1).startswith(f(2), 'Hello')",
        "assert g(1).startswith('Hello')",
        "assert g(1)().startswith('Hello')",
        "assert h(1).startswith('Hello')",
        "assert h(1).count('Hello')",
        "assert k(1)[0]['a'][0].startswith('Hello')",
        "assert made(1).startswith('Hello')",
        "assert 'Hello' in made(1)",
        "import solution\nassert solution.made(1).startswith('Hello')",
        "import solution\nassert solution.f(1).startswith('Hello')",
        "import re\nassert re.match('Hello', f(1))",
        "assert 'Hello'.startswith(f(1))",
        "assert seen",
    ]
    verdict = quick(YES, "\n".join(tests), partial=True)
    assert (verdict["tests_passed"], verdict["tests_total"]) == (0, len(tests)), verdict


def test_objects_a_test_makes_have_the_methods_of_their_class(quick):
    program = """
from dataclasses import dataclass
class Trie:
    class Node:
        def find(self, x): return x
    def __init__(self): self.words = []
    def insert(self, word): self.words.append(word)
    def startswith(self, prefix): return any(word.startswith(prefix) for word in self.words)
    def count(self, word): return self.words.count(word)
@dataclass
class Found:
    count: int
    index: int = 0
    def equals(self, other): return self.count == other.count
    def size(self): return self.count
    def contains(self, x): return x == self.count
def build(n): return Found(n)
def label(x): return x.count("a") + x.index("b")
"""
    tests = [
        "t = Trie()\nt.insert('apple')",
        "assert t.startswith('app') and not t.startswith('b') and t.count('apple') == 1",
        "assert Trie.Node().find(3) == 3",
        "assert build(3).count == 3 and build(3).index == 0 and build(3).size() == 3",
        "assert build(3).equals(build(3)) and not build(3).equals(Found(4))",
        "assert build(3).contains(3) and not build(3).contains(4)",
        "class Own:\n    def count(self, x): return 5\n    def index(self, x): return 1",
        "assert label('aab') == 4 and label(Own()) == 6",
    ]
    verdict = quick(program, tests)
    assert verdict["reward"] == 1.0, verdict
