"""Images, sounds, videos and documents in every recorded form become `Media`, so that no base64 is taken for text.

Forms: OpenAI chat (`image_url`, `input_audio`, `file`) and Responses (`input_image`, `input_file`), Anthropic and
LangChain sources, Gemini `inlineData` and `fileData`, Bedrock Converse, GenAI `blob`, `uri` and `file` parts, MCP
content, Vercel, LlamaIndex, Haystack, Pydantic AI, Ollama's bare base64.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..canonical import JsonValue
from .nested import string
from .parts import Media

MEDIA_TYPES: Final[dict[str, str | None]] = {
    "image": "image",
    "image_url": "image",
    "image_file": "image",
    "input_image": "image",
    "output_image": "image",
    "image-url": "image",
    "computer_screenshot": "image",
    "input_audio": "audio",
    "audio": "audio",
    "audio_url": "audio",
    "audio-url": "audio",
    "video": "video",
    "video_url": "video",
    "video-url": "video",
    "document": "document",
    "document-url": "document",
    "input_file": None,
    "file": None,
    "file_url": None,
    "blob": None,
    "binary": None,
    "media": None,
    "uri": None,
    "resource_link": None,
    "resource": None,
}
"""`type` of a part to the modality it tells; None: the rest of the part tells."""

_WORDS: Final = frozenset({"image", "audio", "video", "document"})
_FORMATS: Final = {"image": "image", "audio": "audio", "video": "video", "document": "application"}


def media_by_type(value: Mapping[str, Any], kind: str) -> Media | None:
    """The media of a part whose `type` (or `part_kind`) is in `MEDIA_TYPES`; None where it names none."""
    modality = MEDIA_TYPES[kind] or _modality(value.get("modality"))
    holders = [value]
    for key in (
        kind,
        "image_file",
        "source",
        "image_url",
        "audio",
        "input_audio",
        "file",
        "image",
        "resource",
        "document",
        "video",
    ):
        inner = value.get(key)
        if isinstance(inner, dict) and inner is not value:
            holders.append(inner)
            if isinstance(inner.get("source"), dict):
                holders.append(inner["source"])
    return _from(holders, modality)


def media_by_key(value: Mapping[str, Any]) -> Media | None:
    """The media of a part without a type: Gemini's and Bedrock's, Haystack's, OpenInference's image."""
    for key in ("inlineData", "inline_data", "fileData", "file_data", "input_file"):
        if isinstance(value.get(key), dict):
            return _from([value[key]], None)
    for key in ("image", "audio", "video", "document"):
        inner = value.get(key)
        if isinstance(inner, dict):
            source = inner.get("source", inner.get(key))
            return _from([inner, *([source] if isinstance(source, dict) else [])], key)
    if isinstance(value.get("base64_image"), str):
        return _from([{"data": value["base64_image"], **value}], "image")
    return None


def media_of_text(value: JsonValue, modality: str) -> Media | None:
    """Bare base64, a data URL or an address (Ollama's `images`)."""
    return _from([{"data": value}], modality) if isinstance(value, str) and value else None


def is_media_text(text: str) -> bool:
    """Whether a text is nothing but a data URL of base64."""
    return text.startswith("data:") and ";base64," in text[:128] and not any(c in text[:128] for c in " \n")


_DATA: Final = ("data", "base64", "file_data", "bytes", "content", "blob", "image_base64", "base64_image", "b64_json")
_URI: Final = (
    "url",
    "uri",
    "file_url",
    "fileUri",
    "file_uri",
    "image_url",
    "audio_url",
    "video_url",
    "image.image.url",
    "audio.url",
    "path",
)
_IDS: Final = ("file_id", "fileId", "container_id", "file")
_MIME: Final = ("mime_type", "mimeType", "media_type", "mediaType", "image_mimetype", "audio_mimetype", "mimetype")
_NAMES: Final = ("filename", "file_name", "title", "name", "displayName")


def _from(holders: list[Mapping[str, Any]], modality: str | None) -> Media | None:
    data: str | None = None
    uri: str | None = None
    for holder in holders:
        for key in (*_DATA, *_URI, "image", "file", "audio"):
            found = string(holder.get(key))
            if found is None or (key in ("content", "text") and holder.get("type") not in ("blob", "base64", None)):
                continue
            if is_media_text(found):
                head, _, data = found.partition(",")
                told = head[5:].split(";", 1)[0]
                return Media(modality or _modality(told), told or None, data=data, name=_first(holders, _NAMES))
            if "://" in found[:32] or key in _URI:
                uri = uri or found
            elif key != "file":
                data = data or found
    location = next((holder["s3Location"] for holder in holders if isinstance(holder.get("s3Location"), dict)), None)
    if location is not None:
        uri = uri or string(location.get("uri"))
    mime = _first(holders, _MIME) or _format(holders, modality)
    file_id = _first(holders, _IDS) or (_first(holders, ("id",)) if data is None and uri is None else None)
    if data is None and uri is None and file_id is None:
        return None
    return Media(
        modality or _modality(mime),
        mime,
        data=data,
        uri=None if data is not None else uri,
        file_id=None if data is not None or uri is not None else file_id,
        name=_first(holders, _NAMES),
    )


def _format(holders: list[Mapping[str, Any]], modality: str | None) -> str | None:
    """`png` of an image is `image/png`, `wav` of a sound `audio/wav`, `pdf` of a document `application/pdf`."""
    word = _first(holders, ("format",))
    if word is None or "/" in word:
        return word
    return f"{_FORMATS[modality]}/{word}" if modality in _FORMATS else None


def _first(holders: list[Mapping[str, Any]], keys: tuple[str, ...]) -> str | None:
    return next((found for holder in holders for key in keys if (found := string(holder.get(key))) is not None), None)


def _modality(word: JsonValue) -> str | None:
    if not isinstance(word, str) or not word:
        return None
    first = word.split("/", 1)[0].lower()
    if first in _WORDS:
        return first
    return "document" if "/" in word else None
