"""JSON objects in files: what is written is read again, and what cannot be read is named."""

import pytest

from itersel.base.errors import InputError
from itersel.base.json_files import read_json, write_json


def test_written_and_read_again(tmp_path):
    values = {"name": "Größe", "numbers": [1, 2.5, None]}
    write_json(tmp_path / "folder" / "file.json", values)
    assert read_json(tmp_path / "folder" / "file.json") == values
    assert "Größe" in (tmp_path / "folder" / "file.json").read_text()


@pytest.mark.parametrize(
    ("text", "message"), [("{", "damaged"), ("[]", "damaged: not a JSON object"), (None, "cannot")]
)
def test_what_cannot_be_read_is_named(tmp_path, text, message):
    path = tmp_path / "file.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=rf"file\.json: {message}"):
        read_json(path)
