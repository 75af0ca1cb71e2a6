/** Servers on loopback that take messages: HTTP with answers by script, and SMTP as a mail server speaks it. */
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** No answer at all. */
  readonly hangs?: true;
  /** A body without end. */
  readonly endless?: true;
}

const listening = (server: Server | ReturnType<typeof createSocketServer>): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });

/** Answers by `reply`, called with each request and its number; keeps what it received. */
export const messageServer = async (reply: (request: Received, index: number) => Reply) => {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      body += part;
    });
    request.on("end", () => {
      const one = { method: request.method ?? "", path: request.url ?? "", headers: request.headers, body };
      const { status = 200, headers = {}, body: answer = "", hangs, endless } = reply(one, received.length);
      received.push(one);
      if (hangs) return;
      response.writeHead(status, headers);
      if (endless !== true) {
        response.end(answer);
        return;
      }
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(16_384)));
      };
      response.on("drain", more);
      more();
    });
  });
  const port = await listening(server);
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${port}`, port, received, close };
};

export interface Letter {
  readonly from: string;
  readonly to: readonly string[];
  readonly login: string;
  readonly text: string;
}

/** A mail server (RFC 5321) with AUTH PLAIN; `refuse` is its answer to each recipient instead of 250. */
export const mailServer = async ({
  refuse,
  passing = "",
}: {
  readonly refuse?: () => string | undefined;
  readonly passing?: string;
} = {}) => {
  const letters: Letter[] = [];
  const talk = (socket: Socket): void => {
    let pending = "";
    let data: string[] | undefined;
    let letter = { from: "", to: [] as string[], login: "" };
    const say = (line: string): undefined => {
      socket.write(`${line}\r\n`);
    };
    const line = (text: string): undefined => {
      if (data !== undefined) {
        if (text !== ".") {
          data.push(text.replace(/^\.\./, "."));
          return;
        }
        letters.push({ ...letter, text: data.join("\n") });
        data = undefined;
        letter = { from: "", to: [], login: letter.login };
        return say("250 2.0.0 queued");
      }
      const verb = (text.split(" ")[0] ?? "").toUpperCase();
      const rest = text.slice(verb.length + 1);
      if (verb === "EHLO") return say("250-loopback\r\n250-8BITMIME\r\n250 AUTH PLAIN");
      if (verb === "AUTH") {
        letter.login = Buffer.from(rest.replace(/^PLAIN /i, ""), "base64")
          .toString("utf8")
          .replaceAll("\0", "|");
        return say(
          passing !== "" && !letter.login.endsWith(passing)
            ? `535 5.7.8 wrong password: ${letter.login}`
            : "235 2.7.0 welcome",
        );
      }
      if (verb === "MAIL") letter.from = /<(.*)>/.exec(rest)?.[1] ?? "";
      if (verb === "RCPT") {
        const no = refuse?.();
        if (no !== undefined) return say(no);
        letter.to.push(/<(.*)>/.exec(rest)?.[1] ?? "");
      }
      if (verb === "DATA") {
        data = [];
        return say("354 go on");
      }
      if (verb === "QUIT") {
        say("221 bye");
        socket.end();
        return;
      }
      return say("250 2.0.0 ok");
    };
    socket.setEncoding("utf8").on("data", (part: string) => {
      pending += part;
      const lines = pending.split("\r\n");
      pending = lines.pop() ?? "";
      lines.forEach(line);
    });
    socket.on("error", () => undefined);
    say("220 loopback ESMTP");
  };
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    talk(socket);
  });
  const port = await listening(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port, letters };
};
