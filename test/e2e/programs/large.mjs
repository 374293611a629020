/**
 * Saves a dataset of many rows and reads it back, and records calls with large outputs: a text of 20 MB, near
 * the most that the SDK sends (10 MiB of characters), and a sound of 20 MB, which it stores as a file. Prints what it saw as JSON.
 *
 *   WF_TRACE_SERVER_URL=… WANDB_API_KEY=… node large.mjs <entity>/<project>
 */
import { createHash } from 'node:crypto'
import * as weave from 'weave'

const client = await weave.init(process.argv[2])
const hash = (data) => createHash('sha256').update(data).digest('hex')

const ROWS = 50_000
const rows = Array.from({ length: ROWS }, (_, n) => ({
  n,
  text: `row ${n % 40_000}`,
  nested: { odd: n % 2 === 1 },
}))
const saved = await new weave.Dataset({ name: 'many', rows }).save()
const read = (await saved.get()).rows.rows

const text = '\u4e16\u754c \u00fc '.repeat(2_050_000)
const say = weave.op(() => text, { name: 'say' })
await say()

const sound = Buffer.alloc(20_000_000)
for (let i = 0; i < sound.length; i += 4) sound.writeUInt32LE((i * 2654435761) >>> 0, i)
const play = weave.op(() => weave.weaveAudio({ data: sound }), { name: 'play' })
await play()
await client.waitForBatchProcessing()

const calls = await client.getCalls()
const said = calls.find(({ op_name }) => op_name.includes('/op/say:')).output
console.log(
  JSON.stringify({
    dataset: saved.uri(),
    rows: read.length,
    inOrder: read.every(
      (row, n) => row.n === n && row.text === rows[n].text && row.nested.odd === rows[n].nested.odd,
    ),
    textIsSame: said === text,
    soundHash: hash(sound),
  }),
)
