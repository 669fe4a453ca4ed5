// Puts `placet mcp serve`, which speaks over standard input and output, at an address of loopback, for the conformance
// suite. It passes messages on and knows nothing of them. Use: node bridge.mjs SDK PLACET ROOT; it prints its address.
import { createServer } from "node:http";
import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";

const [sdk, placet, root] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${sdk}/dist/esm/${name}.js`));
const { StreamableHTTPServerTransport } = await load("server/streamableHttp");
const { StdioClientTransport } = await load("client/stdio");
const sessions = new Map();

async function begin() {
  const near = new StdioClientTransport({ command: placet, args: ["mcp", "serve", "--root", root, "--mode", "ask"] });
  const far = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, far),
  });
  near.onmessage = (message) => far.send(message).catch(() => {});
  far.onmessage = (message) => near.send(message);
  far.onclose = () => near.close();
  await near.start();
  await far.start();
  return far;
}

const server = createServer(async (request, response) => {
  const known = sessions.get(request.headers["mcp-session-id"]);
  await (known ?? (await begin())).handleRequest(request, response);
});
server.listen(0, "127.0.0.1", () => console.log(`http://localhost:${server.address().port}/mcp`));
