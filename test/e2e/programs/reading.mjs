/**
 * Writes a small trace, then reads, names and deletes through the SDK's own client. Prints what it saw as JSON.
 *
 *   WF_TRACE_SERVER_URL=… WANDB_API_KEY=… node reading.mjs <entity>/<project>
 */
import * as weave from 'weave'

const project_id = process.argv[2]
const client = await weave.init(project_id)
const { call, calls } = client.traceServerApi

const usage = (text) => ({ usage: { writer: { prompt_tokens: text.length } } })
const child = weave.op(async (text) => `${text}?`, { name: 'child', summarize: usage })
const parent = weave.op((text) => child(text), { name: 'parent', callDisplayName: (text) => `says ${text}` })

await parent('once')
const [said, made] = await parent.invoke('well')
await weave.withAttributes({ tenant: 'blue' }, () => child('alone'))
await client.waitForBatchProcessing()

const read = async (id) => (await call.callReadCallReadPost({ project_id, id })).data.call
const count = async (filter) => (await calls.callsQueryStatsCallsQueryStatsPost({ project_id, filter })).data
const seen = {}

const all = await client.getCalls()
const [first, below] = all.filter(({ trace_id }) => trace_id === all[0].trace_id)
seen.said = said
seen.calls = all.map(({ op_name, inputs, output }) => ({ op_name, inputs, output }))
seen.names = all.map(({ display_name }) => display_name)
seen.attributes = all.map(({ attributes }) => attributes.tenant ?? null)
seen.limited = (await client.getCalls({ trace_roots_only: true }, false, 2)).length
seen.byOp = (await client.getCalls({ op_names: [below.op_name] })).length
seen.one = (await client.getCall(below.id)).output
seen.parentOfOne = (await read(below.id)).parent_id === first.id
seen.unknown = await read('no-such-call')
seen.count = await count({})

await client.updateCall(first.id, 'renamed')
seen.renamed = (await read(first.id)).display_name
await made.setDisplayName('named last')
seen.namedLast = (await read(made.id)).display_name

seen.deleted = (await calls.callsDeleteCallsDeletePost({ project_id, call_ids: [first.id] })).data
seen.deletedChild = below.id
seen.afterDelete = await client.getCall(below.id).catch((error) => error.message)
seen.left = await count({})

console.log(JSON.stringify(seen))
