// SPDX-License-Identifier: Apache-2.0
//
// A client in another language, made from the contract alone:
//
//     node query.mjs PROTO_FOLDER HOST:PORT SQL
//
// prints the rows as JSON, one array; or {"status", "condition"} of the error, and exits with 1.

import { createRequire } from "node:module";
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";
import { tableFromIPC } from "apache-arrow";

const require = createRequire(import.meta.url);
const protobuf = require("protobufjs");

const [folder, address, sql] = process.argv.slice(2);
const file = "plait/v1/plait.proto";
const contract = grpc.loadPackageDefinition(loader.loadSync(file, { includeDirs: [folder], longs: Number }));
const client = new contract.plait.v1.PlaitService(address, grpc.credentials.createInsecure());

// google.rpc.Status { int32 code = 1; string message = 2; repeated Any details = 3; }
function conditionOf(error) {
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  const root = new protobuf.Root();
  root.resolvePath = (_, target) => (target === file ? `${folder}/${file}` : target);
  const detail = root.loadSync(file).lookupType("plait.v1.ErrorDetail");
  const any = new protobuf.Type("Any")
    .add(new protobuf.Field("type_url", 1, "string"))
    .add(new protobuf.Field("value", 2, "bytes"));
  const status = new protobuf.Type("Status").add(new protobuf.Field("details", 3, "Any", "repeated"));
  new protobuf.Root().add(any).add(status);
  return detail.decode(status.decode(bytes).details[0].value).condition;
}

const parts = [];
const call = client.Execute({ session: "node", sql });
call.on("data", (message) => {
  const arrow = message.schema?.arrow ?? message.batch?.arrow;
  if (arrow) parts.push(arrow);
});
call.on("error", (error) => {
  console.log(JSON.stringify({ status: grpc.status[error.code], condition: conditionOf(error) }));
  process.exitCode = 1;
  client.close();
});
call.on("end", () => {
  if (process.exitCode) return; // an error ends the call too
  const table = tableFromIPC(parts);
  const rows = table.toArray().map((row) => row.toArray());
  console.log(JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? Number(value) : value)));
  client.close();
});
