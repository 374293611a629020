/**
 * Publishes things of every kind that the SDK knows, reads them back, and prints what it saw as JSON. Run twice, it
 * publishes the same again.
 *
 *   WF_TRACE_SERVER_URL=… WANDB_API_KEY=… node publishing.mjs <entity>/<project>
 */
import * as weave from 'weave'

const project_id = process.argv[2]
const client = await weave.init(project_id)
const { obj, objs, file, table, refs } = client.traceServerApi
const data = async (answer) => (await answer).data

class Settings extends weave.WeaveObject {
  constructor({ temperature, ...base }) {
    super(base)
    this.temperature = temperature
    this.tags = ['ü', '\u0000', '\ud83e\udd84']
  }
}
const settings = (temperature) => new Settings({ name: 'my settings', description: 'how', temperature })

const double = weave.op((n) => n * 2, { name: 'double' })
const image = () => weave.weaveImage({ data: Buffer.from('89504e470d0a1a0a00ff', 'hex') })
const audio = () => weave.weaveAudio({ data: Buffer.from('RIFF\u0000\u0001 not quite a wave') })

const publish = async (thing, name) => (await client.publish(thing, name)).uri()
const first = settings(0.5)
const published = {
  first: await publish(first),
  again: await publish(settings(0.5)),
  other: await publish(settings(1)),
  plain: await publish({ n: 1, list: [null, 1e21, -0.5], nested: { a: 'b' } }, 'plain'),
  list: await publish([1, 'two', null], 'list'),
  prompt: await publish(new weave.StringPrompt({ name: 'greeting', content: 'Hello {who}' })),
  messages: await publish(
    new weave.MessagesPrompt({ name: 'chat', messages: [{ role: 'user', content: 'Say {what}' }] }),
  ),
  dataset: await publish(new weave.Dataset({ name: 'rows', rows: [{ n: 3 }, { n: 1 }, { n: 3 }] })),
  op: await publish(double),
  holder: await publish({ settings: first, op: double, picture: image() }, 'holder'),
}

const shown = weave.op(() => ({ picture: image(), sound: audio() }), { name: 'shown' })
await shown()
await client.waitForBatchProcessing()

const get = (uri) => weave.ObjectRef.fromUri(uri).get()
const dataset = await get(published.dataset)
const prompt = await weave.StringPrompt.get(client, published.prompt)
const messages = await weave.MessagesPrompt.get(client, published.messages)
const digestIn = (uri) => uri.split(':').at(-1)
const op = await data(
  obj.objReadObjReadPost({ project_id, object_id: 'double', digest: digestIn(published.op) }),
)
const latest = await data(obj.objReadObjReadPost({ project_id, object_id: 'my-settings', digest: 'latest' }))
const content = (digest) => file.fileContentFileContentPost({ project_id, digest }, { format: undefined })
const [call] = await client.getCalls()
const bytes = async (digest) => Buffer.from(await (await content(digest)).arrayBuffer()).toString('hex')

const saved = await data(
  obj.objReadObjReadPost({ project_id, object_id: 'rows', digest: digestIn(published.dataset) }),
)
const tableDigest = saved.obj.val.rows.split('/').at(-1)
const updates = [
  { append: { row: { n: 9 } } },
  { pop: { index: 0 } },
  { insert: { index: 1, row: { n: 2 } } },
]
const updated = await data(
  table.tableUpdateTableUpdatePost({ project_id, base_digest: tableDigest, updates }),
)
const rowsOf = async (digest) =>
  (await data(table.tableQueryTableQueryPost({ project_id, digest }))).rows.map(({ val }) => val.n)

const query = async (body) =>
  (await data(objs.objsQueryObjsQueryPost({ project_id, ...body }))).objs.map(
    ({ object_id, version_index, is_latest }) => `${object_id} v${version_index} ${is_latest}`,
  )

console.log(
  JSON.stringify({
    published,
    plain: await get(published.plain),
    list: await get(published.list),
    settings: await get(published.first),
    prompt: prompt.format({ who: 'you' }),
    messages: messages.format({ what: 'this' }),
    rows: dataset.rows.rows.map(({ n }) => n),
    rowRefs: dataset.rows.rows.map((row) => row.__savedRef.uri()),
    op: op.obj,
    code: await (await content(op.obj.val.files['obj.py'])).text(),
    latest: latest.obj,
    media: [
      await bytes(call.output.picture.files['image.png']),
      await bytes(call.output.sound.files['audio.wav']),
    ],
    output: call.output,
    updated: await rowsOf(updated.digest),
    updatedRows: updated.updated_row_digests.length,
    base: await rowsOf(tableDigest),
    count: (await data(table.tableQueryStatsTableQueryStatsPost({ project_id, digest: updated.digest })))
      .count,
    objects: await query({ filter: { is_op: false }, sort_by: [{ field: 'object_id', direction: 'asc' }] }),
    latestSettings: await query({ filter: { object_ids: ['my-settings'], latest_only: true } }),
    datasets: await query({ filter: { base_object_classes: ['Dataset'] } }),
    ops: await query({ filter: { is_op: true }, metadata_only: true, limit: 10, offset: 0 }),
    read: (
      await data(
        refs.refsReadBatchRefsReadBatchPost({
          refs: [
            `${published.first}/attr/temperature`,
            `${published.dataset}/attr/rows/index/1`,
            `${published.holder}/key/settings/attr/tags/index/0`,
            `weave:///${project_id}/object/unknown:${digestIn(published.first)}`,
            published.list,
            `weave:///${project_id}/call/${call.id}`,
          ],
        }),
      )
    ).vals.map((val) => val?.id ?? val),
  }),
)
