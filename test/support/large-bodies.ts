/** JSON of about so many bytes, as an object. */
type Shape = (bytes: number) => string

const repeated = (bytes: number, item: (index: number) => string): string => {
  const items: string[] = []
  for (let length = 0, index = 0; length < bytes; index += 1) {
    const text = item(index)
    items.push(text)
    length += text.length + 1
  }
  return items.join(',')
}

/** An object may have as many members. */
const MEMBERS = 100_000

const wide = (bytes: number): string => `{${repeated(bytes, (at) => `"k${at}":0`)}}`

const LEVELS = 200

export const bodyShapes: Readonly<Record<string, Shape>> = {
  'wide object': wide,
  'wide objects': (bytes) => `{"v":[${repeated(bytes, () => wide(Math.min(bytes, 8 * MEMBERS)))}]}`,
  floats: (bytes) => `{"v":[${repeated(bytes, (at) => `${((at * 7919) % 1e6) / 1e6}`)}]}`,
  digits: (bytes) => `{"v":[${'1,'.repeat(bytes / 2)}1]}`,
  'wide numbers': (bytes) => `{"v":[${repeated(bytes, (at) => `90071992547409930${at}`)}]}`,
  'empty objects': (bytes) => `{"v":[${'{},'.repeat(bytes / 3)}{}]}`,
  'long string': (bytes) => `{"v":"${'text \\n'.repeat(bytes / 7)}"}`,
  'escaped string': (bytes) => `{"v":"${'\\u0000\\ud83d\\ude00'.repeat(bytes / 18)}"}`,
  'foreign string': (bytes) => `{"v":"${'文字\u{1f600}'.repeat(bytes / 10)}"}`,
  'long key': (bytes) => `{"${'k'.repeat(bytes)}":1}`,
  strings: (bytes) => `{"v":[${'"",'.repeat(bytes / 3)}""]}`,
  deep: (bytes) => `{"v":[${repeated(bytes, () => `${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}`)}]}`,
  'deep objects': (bytes) =>
    `{"v":[${repeated(bytes, () => `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`)}]}`,
  references: (bytes) =>
    `{"v":[${repeated(bytes, (at) => `"weave:///bench/holds/object/o:${'x'.repeat(40)}${at}"`)}]}`,
  records: (bytes) =>
    `{"v":[${repeated(bytes, (at) => `{"id":${at},"role":"user","content":"What is ${at}?","tags":["a","b"]}`)}]}`,
  mixed: (bytes) =>
    `{"v":[${repeated(bytes, (at) => (at % 7 === 0 ? wide(at % 20_000) : at % 3 === 0 ? `"${'x'.repeat(at % 5000)}"` : `{"a":[{"b":[${at},null,true,{"c":${at / 7}}]}]}`))}]}`,
}

const started = '2026-01-01T00:00:00.123Z'

const startOf = (inputs: string, id: string): string =>
  `"id":"${id}","trace_id":"${id}","op_name":"op","started_at":"${started}","attributes":{},"inputs":${inputs}`

const someId = (): string => crypto.randomUUID()

/** The list in the value, as objects, or the value alone. */
const rowsOf = (value: string): string => (value.startsWith('{"v":[{') ? value.slice(5, -1) : `[${value}]`)

/** Lines of JSON: each item of the list in the value, or the value alone. */
const linesOf = (value: string): string =>
  JSON.stringify(
    (JSON.parse(rowsOf(value)) as unknown[]).map((row, at) => JSON.stringify({ _step: at, row })),
  )

const UPSERT = 'mutation ($input: UpsertBucketInput!) { upsertBucket(input: $input) { bucket { id } } }'

/** Bodies with a value in the place where a route takes any. What follows the path in a name tells them apart. */
export const routesOf = (project: string): Readonly<Record<string, (value: string) => string>> => ({
  '/call/start': (value) => `{"start":{"project_id":"${project}",${startOf(value, someId())}}}`,
  '/call/end': (value) =>
    `{"end":{"project_id":"${project}","id":"${someId()}","ended_at":"${started}","summary":${value},"output":${value}}}`,
  '/call/upsert_batch': (value) =>
    `{"batch":[{"mode":"start","req":{"start":{"project_id":"${project}",${startOf(value, someId())}}}}]}`,
  [`/v2/${project}/calls/complete`]: (value) =>
    `{"batch":[{"project_id":"${project}",${startOf('{}', someId())},"ended_at":"${started}","summary":{},"output":${value}}]}`,
  '/obj/create': (value) => `{"obj":{"project_id":"${project}","object_id":"o","val":${value}}}`,
  '/table/create': (value) => `{"table":{"project_id":"${project}","rows":${rowsOf(value)}}}`,
  '/calls/query': (value) => `{"project_id":"${project}","filter":${value}}`,
  '/feedback/create': (value) =>
    `{"project_id":"${project}","feedback_type":"note","weave_ref":"weave:///${project}/call/${someId()}","payload":${value}}`,
  '/graphql': (value) => `{"query":"{ viewer { id } }","variables":${value}}`,
  '/graphql config': (value) =>
    JSON.stringify({
      query: UPSERT,
      variables: {
        input: {
          entityName: project.split('/')[0],
          modelName: project.split('/')[1],
          name: 'r',
          config: value,
        },
      },
    }),
  [`/files/${project}/r/file_stream line`]: (value) =>
    `{"files":{"wandb-history.jsonl":{"offset":0,"content":[${JSON.stringify(value)}]}}}`,
  [`/files/${project}/r/file_stream lines`]: (value) =>
    `{"files":{"wandb-history.jsonl":{"offset":0,"content":${linesOf(value)}}}}`,
  [`/files/${project}/r/file_stream summary`]: (value) =>
    `{"files":{"wandb-summary.json":{"offset":0,"content":[${JSON.stringify(value)}]},"output.log":{"offset":0,"content":[${JSON.stringify(value)}]}}}`,
  [`/v2/${project}/predictions`]: (value) =>
    `{"model":"weave:///${project}/object/o:latest","inputs":${value},"output":1}`,
  [`/v2/${project}/datasets`]: (value) => `{"name":"d","rows":${rowsOf(value)}}`,
  [`/v2/${project}/models`]: (value) => `{"name":"m","source_code":"pass","attributes":${value}}`,
  [`/v2/${project}/ops`]: (value) => `{"name":"p","source_code":${JSON.stringify(value)}}`,
  [`/api/runs/${project}/r/metrics`]: (value) => `{"metrics":${value}}`,
  [`/api/artifacts/${project}/c/versions`]: (value) => `{"metadata":${value}}`,
  '/v1/chat/completions': (value) =>
    `{"model":"home/echo","messages":[{"role":"user","content":"Hello"}],"more":${value}}`,
  '/v1/chat/completions stream': (value) =>
    `{"model":"home/echo","stream":true,"messages":[{"role":"user","content":${JSON.stringify(value)}}]}`,
})
