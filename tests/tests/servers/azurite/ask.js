// Asks an Azurite something, as who has the key that everybody knows, and
// prints the status and the headers of the answer:
//     node ask.js PORT METHOD /CONTAINER/BLOB?QUERY [HEADER:VALUE …]
// How a request is signed:
// https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key
const { createHmac } = require("crypto");
const { request } = require("http");

const account = "devstoreaccount1";
const key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

const [port, method, target, ...more] = process.argv.slice(2);
const url = new URL(`http://127.0.0.1:${port}/${account}${target}`);
const headers = {
  "x-ms-date": new Date().toUTCString(),
  "x-ms-version": "2021-12-02",
  ...Object.fromEntries(more.map((header) => header.split(":"))),
};
const sorted = (pairs) => [...pairs].sort().map((pair) => pair.join(":"));
const signed = [
  // The method, and eleven headers of HTTP that are not there.
  method + "\n".repeat(11),
  ...sorted(Object.entries(headers)),
  `/${account}${url.pathname}`,
  ...sorted(url.searchParams),
].join("\n");
const signature = createHmac("sha256", Buffer.from(key, "base64")).update(signed).digest("base64");
headers.authorization = `SharedKey ${account}:${signature}`;
headers["content-length"] = 0;

request(url, { method, headers, timeout: 10000 }, (answer) => {
  const lines = Object.entries(answer.headers).map((header) => header.join(": "));
  console.log([answer.statusCode, ...lines].join("\n"));
  answer.resume();
}).on("timeout", () => process.exit(1)).end();
