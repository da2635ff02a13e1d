"""What runs inside of the sandbox: a program of three processes that needs nothing but the standard library.

A supervisor applies the limits and forks the other two. The worker holds the candidate and answers calls. The
examiner holds the tests; what they call of the candidate are proxies, and only plain values come back. So the
candidate never shares a process with a test or with the verdict: it cannot read them, patch what they use, or return
an object that says it equals everything.

The library starts these modules by path, without importing itself (see `whileai_hf.score.verify.code.command`).
"""

__all__: list[str] = []
