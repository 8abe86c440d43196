"""Steps into what people read: text, Markdown, JSON Lines, a page."""

from ..registry import Registry
from .base import Renderer
from .jsonl import JsonLines
from .markdown import Markdown
from .page import Html
from .text import Text

RENDERERS: Registry[Renderer] = Registry("renderer", Text(), Markdown(), JsonLines(), Html())
