package hopcost.worker.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommandTest {
    @Test
    void anAttachIsReadAsDocumented() throws Exception {
        Command command = Command.parse("""
                {"do":"attach","case":"roundtrip/tcp?payload=64&boundary=process&nodelay=off",\
                "seats":[{"role":"caller","cpu":1,"link":{"offer":{"carrier":"tcp","directory":"/d",\
                "token":"t"}}},{"role":"callee","link":{"connect":{"carrier":"tcp",\
                "address":"127.0.0.1:1","token":"t"}}}],"samples_fd":3,"deadline_ms":1,"unknown":{}}""");
        Command.Attach attach = (Command.Attach) command;
        assertEquals("tcp", attach.subject().mechanism());
        assertEquals(64, attach.subject().payload());
        assertFalse(attach.subject().isOn("nodelay", true));
        assertTrue(attach.subject().isOn("another", true));
        assertEquals(3, attach.samples());
        assertEquals(new LinkHalf.Offer("tcp", "/d", "t"), attach.seats().get(0).link());
        assertEquals(
                new LinkHalf.Connect("tcp", "127.0.0.1:1", "t"), attach.seats().get(1).link());
    }

    @Test
    void descriptorsAndOwnLinksAreToldApart() throws Exception {
        Command.Attach attach = (Command.Attach) Command.parse(
                "{\"do\":\"attach\",\"case\":\"roundtrip/pipe\",\"seats\":[{\"role\":\"caller\",\"link\":{\"fds\":[4,5]}},{\"role\":\"callee\"}]}");
        assertEquals(new LinkHalf.Descriptors(List.of(4, 5)), attach.seats().get(0).link());
        assertEquals(new LinkHalf.Own(), attach.seats().get(1).link());
        assertEquals(-1, attach.samples());
    }

    @Test
    void onlyMeasureKeepsSamples() throws Exception {
        for (String phase : List.of("pilot", "warm-up", "measure", "count")) {
            Command.Run run = (Command.Run) Command.parse("{\"do\":\"run\",\"phase\":\"" + phase
                    + "\",\"count\":90,\"stamp\":{\"kind\":\"two-lengths\",\"n\":30}}");
            assertEquals(phase.equals("measure"), run.keepSamples());
            assertEquals(new Stamp.TwoLengths(30), run.stamp());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", "[]", "{", "{\"do\":1}", "{\"do\":\"fly\"}", "{\"do\":\"attach\"}",
        "{\"do\":\"attach\",\"case\":\"nothing\",\"seats\":[]}",
        "{\"do\":\"attach\",\"case\":\"call/x?payload\",\"seats\":[]}",
        "{\"do\":\"attach\",\"case\":\"call/x\",\"seats\":[{\"role\":\"boss\"}]}",
        "{\"do\":\"attach\",\"case\":\"call/x\",\"seats\":[{\"role\":\"caller\",\"link\":{}}]}",
        "{\"do\":\"run\",\"phase\":\"lunch\",\"count\":1,\"stamp\":{\"kind\":\"each\"}}",
        "{\"do\":\"run\",\"phase\":\"pilot\",\"count\":-1,\"stamp\":{\"kind\":\"each\"}}",
        "{\"do\":\"run\",\"phase\":\"pilot\",\"count\":1,\"stamp\":{\"kind\":\"batch\",\"n\":0}}",
        "{\"do\":\"run\",\"phase\":\"pilot\",\"count\":1,\"stamp\":{\"kind\":\"never\",\"n\":1}}"})
    void nonsenseIsRefusedInOneLine(String line) {
        WorkerFailure failure = assertThrows(WorkerFailure.class, () -> Command.parse(line));
        assertFalse(WorkerFailure.reason(failure).contains("\n"));
    }

    @Test
    void linesAreCutAtTheirEndsAndHaveALimit() throws Exception {
        Lines lines = lines("one\n\nlast");
        assertEquals("one", lines.next());
        assertEquals("", lines.next());
        assertEquals("last", lines.next());
        assertNull(lines.next());
        assertEquals(Lines.LINE_MAX, lines("x".repeat(Lines.LINE_MAX) + "\n").next().length());
        assertThrows(WorkerFailure.class, lines("x".repeat(Lines.LINE_MAX + 1) + "\n")::next);
    }

    private static Lines lines(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return new Lines(new ByteArrayInputStream(bytes), OutputStream.nullOutputStream());
    }
}
