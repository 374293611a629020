import got from 'got'
import { webhookSender } from '../src/adapters/outgoing/webhook-sender/webhook-sender.js'
import { startChild } from './support/child.js'
import { median, ratio } from './support/report.js'

/**
 * How many messages a second does the sender bring to a fast receiver on the loopback address, 64 at a time, against a
 * bare loop of got that posts the same bytes? The two in turn, several times.
 */

const SECONDS = Number(process.env['SECONDS'] ?? 4)
const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const AT_A_TIME = 64
const body = Buffer.from(JSON.stringify({ event_type: 'ADD_ARTIFACT_ALIAS', text: 'x'.repeat(400) }))
const headers = { 'content-type': 'application/json', 'webhook-id': 'dlv_bench' }

const perSecond = async (post: () => Promise<number | null>): Promise<number> => {
  const began = performance.now()
  let sent = 0
  const loop = async (): Promise<void> => {
    while (performance.now() - began < SECONDS * 1000) {
      const status = await post()
      if (status !== 200) throw new Error(`answered ${status}`)
      sent += 1
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, loop))
  return (sent * 1000) / (performance.now() - began)
}

const receiver = await startChild('bench/support/fast-receivers.ts', {})
const sender = webhookSender({ allowed: { cidrs: ['127.0.0.1/32'] } })
const url = `${receiver.address}/hook`
const bare = async () => (await got.post(url, { headers, body, retry: { limit: 0 } })).statusCode
const ours = async () => (await sender.send({ url, headers, body, timeoutMs: 20_000 })).status

const ratios: number[] = []
for (let round = 0; round <= ROUNDS; round += 1) {
  const loop = await perSecond(bare)
  const sends = await perSecond(ours)
  console.log(
    `${round === 0 ? 'warm-up' : `round ${round}`}: ${sends.toFixed(0)}/s; bare got ${loop.toFixed(0)}/s; ratio ${(sends / loop).toFixed(3)}`,
  )
  if (round > 0) ratios.push(sends / loop)
}
ratio('webhook sends ÷ bare got loop', median(ratios), '>= 0.8', median(ratios) >= 0.8, `median of ${ROUNDS}`)
sender.close()
await receiver.stop()
