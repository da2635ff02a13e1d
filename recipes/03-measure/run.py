"""Measure a graded run: reads loop-out/graded."""

import whileai_hf as wai


if __name__ == "__main__":
    report = wai.pass_at("loop-out/graded")
    print(report)
    hardest = sorted(report.per_task.items(), key=lambda task: task[1])[:3]
    print("hardest:", ", ".join(f"{key} ({rate:.2f})" for key, rate in hardest))
    print(wai.group_signal("loop-out/graded"))
