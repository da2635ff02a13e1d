"""Environments as installable packages: tasks, world and reward in a folder that verifiers and TRL can load.

[`export_environment`] writes one, [`load_package`] opens one. The classes that play it are in `export.verifiers`; what
a package holds is data and the names of a reward and a world. To put something else into the folder, write it in
`files.py` and read it back in `reading.py`.
"""

from whileai_hf.export.package.config import PackageConfig
from whileai_hf.export.package.exporting import export_environment
from whileai_hf.export.package.reading import EnvironmentPackage, load_package
from whileai_hf.export.package.references import load_reference
from whileai_hf.export.package.report import EnvironmentExport
from whileai_hf.export.package.training import trainer_environment


__all__ = [
    "EnvironmentExport",
    "EnvironmentPackage",
    "PackageConfig",
    "export_environment",
    "load_package",
    "load_reference",
    "trainer_environment",
]
