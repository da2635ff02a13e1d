import argparse
import dataclasses

import pytest

from whileai_hf.cli.knobs import add_config_flags, config_from
from whileai_hf.cli.parser import build_parser, parse
from whileai_hf.engine.config import SimulationConfig
from whileai_hf.errors import ConfigurationError, SourceNotFoundError


def _parse(*argv):
    return parse(build_parser(), list(argv))


@pytest.fixture
def yaml_file(tmp_path):
    def write(text):
        path = tmp_path / "run.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_every_knob_is_a_flag_with_its_default():
    args = _parse("simulate")
    assert config_from(args, SimulationConfig) == SimulationConfig()


def test_flags_reach_the_config():
    args = _parse("simulate", "--mode", "rl", "--repeats", "6", "--fault-rate", "0.25", "--seeds", "a b", "c")
    config = config_from(args, SimulationConfig)
    assert (config.mode, config.repeats, config.fault_rate, list(config.seeds)) == ("rl", 6, 0.25, ["a b", "c"])


def test_yaml_lies_under_the_flags(yaml_file):
    path = yaml_file("mode: rl\nfault-rate: 0.1\nseeds: [where]\nspec: somewhere\nsampling: {temperature: 1.0}\n")
    args = _parse("simulate", "--config", path, "--fault-rate", "0.9")
    config = config_from(args, SimulationConfig)
    assert (config.mode, config.fault_rate, config.seeds) == ("rl", 0.9, ["where"])
    assert config.sampling == {"temperature": 1.0}, "a knob without a flag is still a key"
    assert args.spec == "somewhere"


def test_yaml_names_the_positional(yaml_file):
    assert _parse("measure", "--config", yaml_file("data: graded.jsonl\nk: 4\n")).data == "graded.jsonl"


def test_empty_yaml_changes_nothing(yaml_file):
    assert config_from(_parse("simulate", "--config", yaml_file("")), SimulationConfig) == SimulationConfig()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("budgett: 3\n", "unknown key 'budgett'; did you mean 'budget'"),
        ("[1, 2]\n", "holds a list"),
        ("a: [1\n", "is not YAML"),
    ],
)
def test_broken_yaml_says_what_is_wrong(yaml_file, text, message):
    with pytest.raises(ConfigurationError, match=message):
        _parse("simulate", "--config", yaml_file(text))


def test_missing_yaml_file():
    with pytest.raises(SourceNotFoundError, match=r"nowhere\.yaml is not a file"):
        _parse("simulate", "--config", "nowhere.yaml")


def test_wrong_yaml_value_is_the_config_s_own_error(yaml_file):
    args = _parse("simulate", "--config", yaml_file("mode: rll\n"))
    with pytest.raises(ConfigurationError, match="rll"):
        config_from(args, SimulationConfig)


def test_flags_of_any_dataclass():
    @dataclasses.dataclass
    class Config:
        width: int = dataclasses.field(default=3, metadata={"help": "100 % of it"})
        names: list[str] = dataclasses.field(default=(), metadata={"help": "some"})
        keep: bool = dataclasses.field(default=True, metadata={"help": "keep it"})

    parser = argparse.ArgumentParser()
    add_config_flags(parser, Config)
    assert config_from(parser.parse_args(["--no-keep", "--names", "x"]), Config) == Config(3, ["x"], False)
    assert "100 % of it" in parser.format_help()
