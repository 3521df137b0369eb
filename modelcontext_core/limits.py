"""Every limit of the package, in one place. Each is named in the message that reports it, and in `docs/formats.md`.

Sizes are bytes unless a name says otherwise.
"""

from __future__ import annotations

from typing import Final

MIB: Final = 1024 * 1024

# What a streaming decoder may hold back, in characters: a tag candidate (512) and a few more for an opener before it.
MAX_TAG_CHARACTERS: Final = 512
MAX_HELD_CHARACTERS: Final = 520

# Identities that are mined from text, in characters.
MIN_MINED_CHARACTERS: Final = 3
MAX_MINED_CHARACTERS: Final = 512
# Shorter ids (and ids of digits only) are replaced under a label or in a declared field only.
MIN_FREE_TEXT_ID_CHARACTERS: Final = 6

# Links listed after an external tool result.
MAX_CANDIDATE_LINKS: Final = 50

# Reading traces.
MAX_JSON_DEPTH: Final = 1024
MAX_RECORD_BYTES: Final = 64 * MIB
MAX_HELD_SPAN_BYTES: Final = 4 * MIB
MAX_UPLOAD_BYTES: Final = 100 * MIB
MAX_ZIP_MEMBERS: Final = 2000
MAX_ZIP_DIRECTORY_BYTES: Final = 4 * MIB
MAX_UNPACKED_BYTES: Final = 500 * MIB
MAX_UNPACK_RATIO: Final = 200
MAX_MESSAGES_PER_CONVERSATION: Final = 200_000
MAX_META_BYTES: Final = 1024

# User-given patterns, in seconds for one message.
USER_PATTERN_SECONDS: Final = 0.2
