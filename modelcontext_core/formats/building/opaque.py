"""What nobody reads: base64 bodies, signatures, encrypted parts. They are named and measured, never shown as text."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["MEDIA_KINDS", "data_uri", "hide_opaque", "is_opaque", "kind_of_media"]

MEDIA_KINDS: Final = ("image", "audio", "video")
_DATA_URI = re.compile(r"data:([^;,\s]*)((?:;[^;,\s]*)*);base64,", re.IGNORECASE)
# No sentence has 200 letters without a space, and every long body has both letter cases and digits.
_MINIMUM: Final = 200
_BASE64 = re.compile(r"[A-Za-z0-9+/_\-]{200,}={0,2}\s*\Z")
_KEYS = (
    r"encrypted_\w+|encryptedContent|redacted_?[cC]ontent|redacted_data|signature|thought_?[sS]ignature|b64_json"
    r"|obfuscation"
)
_OPAQUE_STRING = re.compile(
    rf'"(?P<key>{_KEYS})"\s*:\s*"(?P<secret>[A-Za-z0-9+/_=\-]{{64,}})"'
    r'|"(?P<uri>data:[^"\s,]{0,100};base64,)(?P<body>[A-Za-z0-9+/_=\-]*+)"'
    r'|"(?P<base64>(?:[A-Za-z0-9+_\-]|\\?/){200,}+={0,2}(?:\\n)?)"'
)


def data_uri(text: str) -> tuple[str, int] | None:
    """The media type and the length of the base64 body of a `data:` URI; `None` for any other text."""
    match = _DATA_URI.match(text, 0, 400)
    return (match.group(1), len(text) - match.end()) if match else None


def is_opaque(text: str) -> bool:
    """True when the whole text is a base64 body or a `data:` URI with one."""
    if len(text) < _MINIMUM:
        return False
    if text.startswith("data:"):
        return data_uri(text) is not None
    sample = text[:_MINIMUM]
    if " " in sample:  # nearly every text
        return False
    mixed = any(c.isdigit() for c in text[:4000]) and not sample.islower() and not sample.isupper()
    return mixed and _BASE64.match(text) is not None


def hide_opaque(raw: str) -> tuple[str, int]:
    """JSON text with its opaque strings replaced by a note of type and length, and how many these were.

    Everything else stays byte for byte.
    """
    count = 0

    def note(match: re.Match[str]) -> str:
        nonlocal count
        if match.group("key") is not None:
            count += 1
            return f'"{match.group("key")}": "[{match.group("key")}, {len(match.group("secret")):,} characters]"'
        if match.group("uri") is not None:
            count += 1
            return f'"[{match.group("uri")[5:-8] or "data"}, {len(match.group("body")):,} base64 characters]"'
        body = match.group("base64")
        if not is_opaque(body.replace("\\/", "/").removesuffix("\\n")):
            return match.group()
        count += 1
        return f'"[base64, {len(body):,} characters]"'

    return _OPAQUE_STRING.sub(note, raw), count


def kind_of_media(media_type: str) -> str:
    """`image`, `audio`, `video` or `file`, by a MIME type."""
    family = media_type.split("/", 1)[0].lower()
    return family if family in MEDIA_KINDS else "file"
