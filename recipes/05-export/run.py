"""Write training files for TRL: reads loop-out/rl and loop-out/sft, writes grpo.jsonl and sft.jsonl beside them."""

import whileai_hf as wai


if __name__ == "__main__":
    for source, kind in (("loop-out/sft", "sft"), ("loop-out/rl", "grpo")):
        data = wai.to_trl(source, kind)
        data.to_json(f"loop-out/{kind}.jsonl")
        print(kind, len(data), "rows:", *data.column_names)
