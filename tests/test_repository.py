"""The house rules, checked: layers, names, docs that are true, a wheel that installs."""

import ast
import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "orcalign"
LAYERS = [
    "matching",
    "video",
    "encoders",
    "costs",
    "rewards",
    "envs",
    "agents",
    "training",
    "libraries",
    "experiments",
    "report",
    "datasets",
    "serving",
    "cli",
]

SHARED = ("checks", "files", "locks")
"""Single files that every folder may import."""


def imported_folders(path):
    """The folders of orcalign that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write orcalign. in full"
            names = [node.module]
            if node.module == "orcalign":
                names = [f"orcalign.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "orcalign" and len(parts) > 1 and parts[1] != "__version__":
                yield parts[1]


def test_folders_import_only_from_folders_above():
    for path in SOURCE.rglob("*.py"):
        folder = path.relative_to(SOURCE).parts[0]
        if folder in ("__init__.py", "__main__.py"):
            continue
        if path.stem in SHARED and path.parent == SOURCE:
            assert not set(imported_folders(path)), f"{path} is imported by everybody and imports nobody"
            continue
        assert folder in LAYERS, f"{path}: a new folder needs its place in LAYERS and ARCHITECTURE.md"
        for other in imported_folders(path):
            if other in SHARED:
                continue
            assert other in LAYERS, f"{path} imports orcalign.{other}"
            assert LAYERS.index(other) <= LAYERS.index(folder), f"{path} imports orcalign.{other}, which is below it"


def test_the_layer_test_sees_imports(tmp_path):
    file = tmp_path / "a.py"
    file.write_text(
        "def f():\n    from orcalign.cli import main\n    import orcalign.report.toy\n    from orcalign import envs\n"
    )
    assert sorted(imported_folders(file)) == ["cli", "envs", "report"]


def test_no_file_has_a_name_that_says_nothing():
    names = {path.stem for path in SOURCE.rglob("*.py")}
    assert not names & {"utils", "util", "common", "helpers", "misc"}


def test_import_is_light_and_quick():
    """Under half a second of work and without anything heavy; `make bench` measures it by the clock."""
    code = (
        "import sys, time; start = time.process_time(); import orcalign; seconds = time.process_time() - start; "
        "heavy = {'torch', 'ot', 'mujoco', 'ray', 'av', 'matplotlib', 'transformers', 'openvino'}; "
        "assert not {'numba', *heavy} & set(sys.modules), sys.modules; "
        "assert callable(orcalign.matching.orca); "
        "assert not heavy & set(sys.modules), sys.modules; print(seconds)"
    )
    times = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)]
    assert min(times) < 0.5, times


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
"""Documents in which Python and commands are shown."""


def python_of(page):
    """The Python fences of a page: files that it says to write, by name, and what it says to run."""
    files, code = {}, []
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
        named = re.match(r"# (\w+\.py)\n", block)
        if named:
            files[named[1]] = block
        else:
            code.append(block)
    return files, "\n".join(code)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """The videos that `make demo` draws."""
    from orcalign.video.drawn import draw_clips

    folder = tmp_path_factory.mktemp("clips")
    draw_clips(folder)
    return folder


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", [page for page in PAGES if python_of(page)[1]], ids=lambda page: page.stem)
def test_python_in_the_documents_runs(page, drawn, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "demo").symlink_to(drawn)
    files, code = python_of(page)
    for name, text in {**files, "page.py": code}.items():
        (tmp_path / name).write_text(text)
    # One thread: two that wait for a busy machine take many times as long.
    done = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def commands_of(page):
    """Command and options of every `orcalign` line of a page, and where one names another in its text."""
    text = page.read_text().replace("\\\n", " ").replace("\t", "    ").replace("$(BIN)/", "")
    shown = re.findall(r"^ {4}(?:.*\s)?(orcalign [a-z].*)$", text, re.MULTILINE)
    told = re.findall(r"`(orcalign [a-z][^`]*)`", re.sub(r"\n(?=\S)", " ", text))
    for line in (*shown, *told):
        words = line.split("#")[0].split()[1:]
        command = words[:2] if words[0] in ("demo", "predictor") else words[:1]
        yield tuple(command), [word for word in words if word.startswith("--")]


def test_commands_in_the_documents_have_their_options(capsys):
    from orcalign.cli import main

    known = {}
    for page in [ROOT / "Makefile", *ROOT.glob("*.md"), *PAGES[1:]]:
        if page.name == "CHANGELOG.md":
            continue
        for command, options in commands_of(page):
            if command not in known:
                with pytest.raises(SystemExit) as ended:
                    main([*command, "--help-all" if command == ("train",) else "--help"])
                assert ended.value.code == 0, f"{page.name}: orcalign {' '.join(command)}"
                known[command] = set(re.findall(r"--[a-z][a-z-]*", capsys.readouterr().out)) | {"--help-all"}
            for option in options:
                assert option.rstrip(".,;") in known[command], (
                    f"{page.name}: orcalign {' '.join(command)} has no {option}"
                )
    assert len(known) > 12, "commands are found"


def test_every_picture_is_shown():
    text = "".join(page.read_text() for page in PAGES)
    for picture in (ROOT / "docs" / "images").iterdir():
        assert f"images/{picture.name}" in text, picture.name


def test_readme_names_the_commands_that_ci_and_users_run():
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    assert "make test" in (ROOT / ".ci" / "run").read_text()
    for target in ("demo", "test"):
        assert f"make {target}" in readme
    for target in ("setup", "demo", "test", "test-slow", "lint", "bench", "docs"):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_architecture_names_every_folder():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    for folder in SOURCE.iterdir():
        if folder.is_dir() and folder.name != "__pycache__":
            assert f"{folder.name}/" in text, folder.name


def test_links_in_the_documents_lead_somewhere():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_page_on_fidelity_names_files_and_tests_that_are_there():
    page = (ROOT / "docs" / "fidelity.md").read_text()
    named = re.findall(r"`((?:src|tests)/[^`: ]+)(?:::(\w+))?`", page)
    assert len(named) > 40
    for path, test in named:
        assert (ROOT / path).exists(), path
        if test:
            assert re.search(rf"(def|class) {test}\b", (ROOT / path).read_text()), f"{path}::{test}"


def test_documents_tell_the_version():
    from orcalign import __version__

    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {__version__}\n" in (ROOT / "CHANGELOG.md").read_text()


def test_constraints_pin_every_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = {
        line.split("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if line and not line.startswith("#")
    }
    wanted = list(project["dependencies"])
    for extra in ("dev", "plot", "video", "hub", "train", "data", "rerun"):
        wanted += project["optional-dependencies"][extra]
    for requirement in wanted:
        name = re.split(r"[\[<>=!~ ]", requirement)[0].lower().replace("_", "-")
        assert name == "orcalign" or name in pinned, name


@pytest.mark.timeout(600)
def test_the_wheel_installs_into_an_empty_environment(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    pip = [
        python,
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "-c",
        ROOT / "constraints.txt",
        wheel,
    ]
    subprocess.run(pip, check=True, env=clean, cwd=tmp_path, capture_output=True)
    code = (
        "import orcalign, sys; from orcalign.matching import MATCHERS; import numpy as np; "
        f"assert {str(tmp_path)!r} in orcalign.__file__, orcalign.__file__; "
        "[m(np.ones((5, 4))) for m in MATCHERS.values()]; "
        "from importlib.resources import files; "
        "assert files('orcalign.experiments').joinpath('studies', 'quick.yaml').is_file(); "
        "print(orcalign.__version__)"
    )
    run = subprocess.run([python, "-c", code], check=True, env=clean, cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout.strip() == wheel.name.split("-")[1]
    script = subprocess.run(
        [tmp_path / "env" / "bin" / "orcalign", "matchers"], env=clean, capture_output=True, text=True
    )
    assert "temporal_ot" in script.stdout, script.stderr
    # Without the extra for plots: one line that says what to install.
    toy = subprocess.run(
        [tmp_path / "env" / "bin" / "orcalign", "toy"],
        env=clean,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert toy.returncode == 2
    assert (
        toy.stderr.splitlines()[-1]
        == "orcalign: this command needs matplotlib; install it with: pip install 'orcalign[plot]'"
    )
    assert "Traceback" not in toy.stderr


PUBLIC = """
import numpy as np
import orcalign
from orcalign import Demo, EpisodeReward, StepReward, VideoReward, read_video
from stable_baselines3.common.vec_env import DummyVecEnv
frames = read_video("demo.mp4").frames
reward = VideoReward(Demo(frames), encoder="pixels")
env = StepReward(orcalign.make("door-close", render="fast"), reward)
other = EpisodeReward(env, reward)
several: int = orcalign.VideoVecReward(DummyVecEnv([lambda: env]), reward).num_envs
said: int = len(orcalign.goals(["reach the handle", "pull it open"]))
sheet = orcalign.score("demo.mp4", ["attempt.mp4"], matcher="orca")
total: float = sheet.temperature
config = orcalign.config("door-close", preset="laptop", recipe="orca")
steps: int = config.steps
run = orcalign.train(config, settings={"steps": 10}, workers=0)
name: str = run.path.name
action = orcalign.load_policy(run.path)(np.zeros(4))
cost = np.ones((3, 2))
found = [
    orcalign.orca(cost), orcalign.orca_log(cost), orcalign.orca_progress(cost), orcalign.ot(cost),
    orcalign.temporal_ot(cost), orcalign.dtw(cost), orcalign.soft_dtw(cost), orcalign.threshold(cost),
]
floats = found[0].reward.sum()
version: str = orcalign.__version__
matcher = orcalign.matching.MATCHERS["orca"]
"""


def test_the_public_names_are_there_for_people_and_for_mypy(tmp_path):
    import orcalign

    assert set(orcalign.__all__) <= set(dir(orcalign))
    for name in orcalign.__all__:
        assert getattr(orcalign, name) is not None
        assert re.search(rf"\b{name}\b", PUBLIC), f"{name} is not tried"
    with pytest.raises(AttributeError, match=r"attribute '?scroe"):
        _ = orcalign.scroe
    file = tmp_path / "face.py"
    environment = {**os.environ, "MYPYPATH": str(SOURCE.parent)}
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        ROOT / "pyproject.toml",
        "--cache-dir",
        tmp_path / "cache",
        file,
    ]
    for text, code in ((PUBLIC, 0), (PUBLIC.replace("steps: int", "steps: str"), 1)):
        file.write_text(text)
        checked = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert checked.returncode == code, checked.stdout
