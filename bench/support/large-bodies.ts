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

export const bodyShapes: Readonly<Record<string, Shape>> = {
  'wide object': (bytes) => `{${repeated(bytes, (at) => `"k${at}":0`)}}`,
  floats: (bytes) => `{"v":[${repeated(bytes, (at) => `${((at * 7919) % 1e6) / 1e6}`)}]}`,
  digits: (bytes) => `{"v":[${'1,'.repeat(bytes / 2)}1]}`,
  'empty objects': (bytes) => `{"v":[${'{},'.repeat(bytes / 3)}{}]}`,
  'long string': (bytes) => `{"v":"${'text \\n'.repeat(bytes / 7)}"}`,
  deep: (bytes) => `{"v":[${repeated(bytes, () => `${'['.repeat(200)}${']'.repeat(200)}`)}]}`,
  references: (bytes) =>
    `{"v":[${repeated(bytes, (at) => `"weave:///bench/holds/object/o:${'x'.repeat(40)}${at}"`)}]}`,
  records: (bytes) =>
    `{"v":[${repeated(bytes, (at) => `{"id":${at},"role":"user","content":"What is ${at}?","tags":["a","b"]}`)}]}`,
}

const started = '2026-01-01T00:00:00.123Z'

const call = (project: string, inputs: string, id: string): string =>
  `{"project_id":"${project}","id":"${id}","trace_id":"${id}","op_name":"op","started_at":"${started}","attributes":{},"inputs":${inputs}}`

const someId = (): string => crypto.randomUUID()

/** Bodies with a value in the place where a route takes any. */
export const routesOf = (project: string): Readonly<Record<string, (value: string) => string>> => ({
  '/call/start': (value) => `{"start":${call(project, value, someId())}}`,
  '/call/upsert_batch': (value) =>
    `{"batch":[{"mode":"start","req":{"start":${call(project, value, someId())}}}]}`,
  '/obj/create': (value) => `{"obj":{"project_id":"${project}","object_id":"o","val":${value}}}`,
  '/table/create': (value) =>
    `{"table":{"project_id":"${project}","rows":${value.startsWith('{"v":[{') ? value.slice(5, -1) : `[${value}]`}}}`,
  '/calls/query': (value) => `{"project_id":"${project}","filter":${value}}`,
  '/feedback/create': (value) =>
    `{"project_id":"${project}","feedback_type":"note","weave_ref":"weave:///${project}/call/${someId()}","payload":${value}}`,
  '/graphql': (value) => `{"query":"{ viewer { id } }","variables":${value}}`,
})
