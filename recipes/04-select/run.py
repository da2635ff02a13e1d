"""Keep the rows worth training on: reads loop-out/graded, writes loop-out/rl and loop-out/sft."""

import whileai_hf as wai


if __name__ == "__main__":
    for mode in ("rl", "sft"):
        rows, report = wai.optimize("loop-out/graded", mode=mode)
        rows.save_to_disk(f"loop-out/{mode}")
        print(report)
