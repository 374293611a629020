import { Agent, request, type IncomingMessage } from 'node:http'

const agent = new Agent({ keepAlive: true, maxSockets: 2000 })
const body = JSON.stringify({
  model: 'acme/fast',
  stream: true,
  messages: [{ role: 'user', content: 'Count to fifty.' }],
})

type Headers = Readonly<Record<string, string>>

const open = (url: string, headers: Headers): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request(url, { method: 'POST', agent, headers }, resolve).on('error', reject).end(body)
  })

/** Milliseconds until the first chunk of a stream is there; the stream is then left. */
export const firstChunkMs = async (url: string, headers: Headers): Promise<number> => {
  const start = performance.now()
  const answer = await open(url, headers)
  await new Promise((resolve) => answer.once('data', resolve))
  const ms = performance.now() - start
  answer.destroy()
  return ms
}

/** Opens so many streams, reads all of them to their end, and looks once a second from when all are open. */
export const openStreams = async (
  url: string,
  headers: Headers,
  count: number,
  look: () => number,
): Promise<readonly number[]> => {
  const answers = await Promise.all(Array.from({ length: count }, () => open(url, headers)))
  const seen = [look()]
  const timer = setInterval(() => seen.push(look()), 1000)
  const texts = await Promise.all(answers.map(wholeTail))
  clearInterval(timer)
  const broken = texts.filter((tail) => !tail.endsWith('data: [DONE]\n\n')).length
  if (broken > 0) throw new Error(`${broken} streams were not whole`)
  return seen
}

/** The last characters of an answer. */
const wholeTail = async (answer: IncomingMessage): Promise<string> => {
  let tail = ''
  for await (const piece of answer) tail = (tail + String(piece)).slice(-100)
  return tail
}
