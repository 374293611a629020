/**
 * Serves a function as an HTTP scorer, with nothing but Node:
 *
 *   SCORER_SECRET='the value of the secret' node server.mjs
 *
 * Replace `score` below, or import `serveScorer` into a program of your own.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'

const TOLERANCE_S = 300
const LABEL = 'tallytree http-scorer v1'
const MAX_BYTES = 32 * 1024 * 1024

/**
 * Gets the columns of the row, all of them as `inputs`, and the model's `output`. Returns any JSON value up to 16 KiB.
 * A row may be posted twice, so that it should have no side effects.
 */
const score = ({ output, expected }) => ({ same: output === expected })

/** Answers `{"score": …}` to signed requests; `score` may be async. */
export const serveScorer = (score, { secret, port = 4800, host = '127.0.0.1' }) => {
  const server = createServer((request, response) => {
    answerTo(request, score, secret).then(
      ([status, answer]) => {
        const body = JSON.stringify(answer)
        if (!request.complete) response.setHeader('Connection', 'close')
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(body)
      },
      () => response.destroy(),
    )
  })
  return server.listen(port, host)
}

const answerTo = async (request, score, secret) => {
  if (request.method !== 'POST') return [405, { error: 'send a POST' }]
  const body = await bodyOf(request)
  if (body === undefined) return [413, { error: `the body is larger than ${MAX_BYTES} bytes` }]
  if (!isGenuine(secret, request.headers, body)) return [401, { error: 'the signature is not valid' }]
  try {
    const result = await score(JSON.parse(body.toString('utf8')).arguments)
    return [200, { score: result ?? null }]
  } catch (error) {
    // Not a 500: the same row would fail again.
    return [422, { error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }]
  }
}

const bodyOf = async (request) => {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BYTES) return undefined
  const pieces = []
  let bytes = 0
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    bytes += piece.length
    if (bytes > MAX_BYTES) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/**
 * As in Standard Webhooks, with a key that is derived from the secret: an old timestamp is refused, and any of the signatures may be the
 * right one.
 */
const isGenuine = (secret, headers, body) => {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_S)) return false
  const secretKey = secret.startsWith('whsec_')
    ? Buffer.from(secret.slice('whsec_'.length), 'base64')
    : secret
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', LABEL, 32))
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
  const expected = Buffer.from(`v1,${digest}`)
  return signatures
    .split(' ')
    .map((signature) => Buffer.from(signature))
    .some((sent) => sent.length === expected.length && timingSafeEqual(sent, expected))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { SCORER_SECRET: secret, PORT: port = '4800', HOST: host = '127.0.0.1' } = process.env
  if (!secret) throw new Error('SCORER_SECRET is not set')
  serveScorer(score, { secret, port: Number(port), host })
}
