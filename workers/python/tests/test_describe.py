import sys
import unittest
from unittest import mock

from hopcost_worker import describe
from hopcost_worker.mechanism.streams import uvloop_missing
from hopcost_worker.mechanism.websocket import websockets_missing


class Describe(unittest.TestCase):
    def test_a_library_that_is_not_there_is_a_reason(self) -> None:
        with mock.patch.dict(sys.modules, {"uvloop": None}):
            self.assertIn("uvloop", uvloop_missing() or "")
        with mock.patch.dict(sys.modules, {"websockets.sync.server": None}):
            self.assertIn("websockets", websockets_missing() or "")

    def test_the_gil_is_named(self) -> None:
        for disabled, enabled, want in (
            (None, None, "the GIL is on"),
            (0, True, "the GIL is on"),
            (1, False, "a free-threaded build with the GIL off"),
            (1, True, "a free-threaded build with the GIL on"),
        ):
            with (
                self.subTest(want),
                mock.patch("sysconfig.get_config_var", lambda _, value=disabled: value),
                mock.patch.object(sys, "_is_gil_enabled", lambda on=enabled: on, create=True),
            ):
                self.assertTrue(describe.remarks()[0].startswith(want))
                self.assertEqual("free-threaded" in describe.libraries()["python"], bool(disabled))

    def test_how_the_interpreter_was_compiled_is_named(self) -> None:
        for asked, profiled, linked in (
            ("'--prefix=/usr' '--enable-optimizations' '--with-lto'", "with", "with"),
            ("'--enable-optimizations' '--with-lto=thin'", "with", "with"),
            ("'--with-lto=no' '--enable-shared'", "without", "without"),
            ("", "without", "without"),
        ):
            config = {"CONFIG_ARGS": asked}
            with self.subTest(asked), mock.patch("sysconfig.get_config_var", config.get):
                self.assertEqual(
                    describe.build(),
                    f"the interpreter was compiled {profiled} profile-guided optimization "
                    f"(--enable-optimizations), {linked} link-time optimization (--with-lto)",
                )
        with mock.patch("sysconfig.get_config_var", {}.get):
            self.assertIn("not known", describe.build())
