import { parentPort, workerData } from 'node:worker_threads'
import { callBatch, listCalls } from './team-calls.js'

/** Clients of one team that write batches and read lists, in a thread of their own, until they are told to stop. */
const { address, key, writers, readers } = workerData as {
  readonly address: string
  readonly key: string
  readonly writers: number
  readonly readers: number
}

const done = { written: 0, read: 0, refused: 0 }
let isOver = false
const repeat = async (task: () => Promise<unknown>) => {
  while (!isOver) await task()
}
const write = async () => {
  const { status } = await callBatch({ address, key }, 'busy', 100)
  if (status === 200) done.written += 100
}
const read = async () => {
  const { status } = await listCalls({ address, key }, 'busy')
  done[status === 200 ? 'read' : 'refused'] += 1
}
parentPort!.once('message', () => (isOver = true))
await Promise.all(
  [...Array<typeof write>(writers).fill(write), ...Array<typeof read>(readers).fill(read)].map(repeat),
)
parentPort!.postMessage(done)
