import { callBatch, listCalls } from './team-calls.js'

/** Clients of one team that write batches and read lists, in a process of their own, until they are told to stop. */
const { ADDRESS = '', KEY = '', WRITERS, READERS } = process.env
const client = { address: ADDRESS, key: KEY }
const [writers, readers] = [Number(WRITERS), Number(READERS)]

const done = { written: 0, read: 0, refused: 0 }
let isOver = false
const repeat = async (task: () => Promise<unknown>) => {
  while (!isOver) await task()
}
const write = async () => {
  const { status } = await callBatch(client, 'busy', 100)
  if (status === 200) done.written += 100
}
const read = async () => {
  const { status } = await listCalls(client, 'busy')
  done[status === 200 ? 'read' : 'refused'] += 1
}
process.once('message', () => (isOver = true))
await Promise.all(
  [...Array<typeof write>(writers).fill(write), ...Array<typeof read>(readers).fill(read)].map(repeat),
)
process.send!(done)
process.disconnect()
