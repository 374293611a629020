import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { createHmac, hkdfSync } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '../../src/kernel/json/json.js'
import { finishedStatus, logRun, rescore, scorerObject } from '../api/evaluations/logged-run.js'
import { endWithThisProcess } from '../support/end-with-this-process.js'
import { startTestService, type TestService } from '../support/service.js'
import { itWith } from '../support/skipping.js'
import { answering, freePort } from './pages.js'

const PROJECT = 'team/scored'
const ROWS = [
  { example: { country: 'France', expected: 'Paris' }, output: 'Paris' },
  { example: { country: 'Japan', expected: 'Tokyo' }, output: 'Kyoto' },
]
const MAX_BYTES = 32 * 1024 * 1024

const SERVERS = [
  ['server.mjs', process.execPath, it],
  ['server.py', 'python3', itWith('python3')],
] as const

/** The secret of one is Base64 after a prefix, the other's is text. */
const SECRETS = {
  'server.mjs': 'whsec_c2lnbmluZy1rZXktb2YtdGhlLXRlc3Q=',
  'server.py': 'a secret with ümlauts',
}

interface Answer {
  readonly status: number
  readonly body: JsonObject
}

describe('the example servers of an HTTP scorer', () => {
  let service: TestService
  let source: string
  const children: ChildProcess[] = []
  before(async () => {
    service = await startTestService({ TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' })
    source = (await logRun(service, PROJECT, ROWS)).id
  })
  after(async () => {
    for (const child of children) child.kill()
    await service.stop()
  })

  const started = async (file: keyof typeof SECRETS, command: string): Promise<string> => {
    const port = await freePort()
    const path = fileURLToPath(new URL(`../../examples/http-scorer/${file}`, import.meta.url))
    const env = { ...process.env, SCORER_SECRET: SECRETS[file], PORT: String(port) }
    const child = spawn(command, [path], { env, stdio: ['ignore', 'ignore', 'inherit'] })
    endWithThisProcess(child)
    children.push(child)
    const url = `http://127.0.0.1:${port}/`
    await answering(url)
    return url
  }

  const post = (url: string, body: string, headers: Record<string, string>): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = request(url, {
        method: 'POST',
        headers: { 'content-length': Buffer.byteLength(body), ...headers },
      })
      sent.on('error', reject)
      sent.on('response', (response) => {
        response.toArray().then((pieces) => {
          const text = Buffer.concat(pieces as Buffer[]).toString()
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as JsonObject })
        }, reject)
      })
      sent.end(body)
    })

  const signed = (file: keyof typeof SECRETS, body: string, at = new Date()): Record<string, string> => {
    const secret = SECRETS[file]
    const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret
    return signedWith(new Uint8Array(hkdfSync('sha256', key, '', 'tallytree http-scorer v1', 32)), body, at)
  }

  const signedWith = (key: string | Uint8Array, body: string, at = new Date()): Record<string, string> => {
    const timestamp = String(Math.floor(at.getTime() / 1000))
    const signature = createHmac('sha256', key).update(`id.${timestamp}.${body}`).digest('base64')
    return {
      'webhook-id': 'id',
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,b2xk v1,${signature}`,
    }
  }

  for (const [file, command, itRuns] of SERVERS) {
    itRuns(`${file} scores the rows of a run`, async () => {
      const url = await started(file, command)
      await service.send('PUT', '/api/teams/team/secrets/SCORER', {
        value: SECRETS[file],
        used_for: ['scorers'],
      })
      const object = scorerObject('HTTPScorer', { name: 'remote', url, secret: 'SCORER' })
      const answer = await rescore(service, PROJECT, source, [
        await service.in(PROJECT).objects.publish('remote', object),
      ])
      const status = await finishedStatus(service, PROJECT, answer.json<{ call_id: string }>().call_id)
      const { remote } = status['output'] as JsonObject
      assert.deepEqual(
        [remote, status['warnings']],
        [{ same: { count: 2, true_count: 1, true_fraction: 0.5, row_count: 2 } }, []],
      )
    })

    itRuns(`${file} refuses what is not signed, is old or was changed`, async () => {
      const url = await started(file, command)
      const body = JSON.stringify({ arguments: { output: 'a', expected: 'a' } })
      assert.deepEqual(await post(url, body, signed(file, body)), {
        status: 200,
        body: { score: { same: true } },
      })
      const status = async (headers: Record<string, string>, of = body) =>
        (await post(url, of, headers)).status
      assert.equal(await status({}), 401)
      assert.equal(await status(signed(file, body), `${body} `), 401)
      // As a webhook with the same secret is signed.
      assert.equal(await status(signedWith(SECRETS[file], body)), 401)
      for (const seconds of [-301, 302])
        assert.equal(await status(signed(file, body, new Date(Date.now() + seconds * 1000))), 401)
      for (const timestamp of ['', 'now', '1e9', '-1', '²', '9'.repeat(5000)])
        assert.equal(
          await status({
            ...signed(file, body),
            'webhook-timestamp': Buffer.from(timestamp).toString('latin1'),
          }),
          401,
        )
      for (const signature of ['', 'v1,', 'v1', 'v2,x', 'é', `v1,${'x'.repeat(10_000)}`])
        assert.equal(await status({ ...signed(file, body), 'webhook-signature': signature }), 401)
    })

    itRuns(`${file} says what is wrong with a row`, async () => {
      const url = await started(file, command)
      for (const body of ['', 'text', '{}', '[]', '"\ud83d\ude00"']) {
        const answer = await post(url, body, signed(file, body))
        assert.equal(answer.status, 422, body)
        assert.equal(typeof answer.body['error'], 'string')
      }
      assert.equal((await fetch(url)).status, 405)
    })

    itRuns(`${file} refuses a body that is too large`, async () => {
      const url = await started(file, command)
      const sent = request(url, { method: 'POST', headers: { 'content-length': MAX_BYTES + 1 } })
      sent.flushHeaders()
      const [{ statusCode }] = (await once(sent, 'response')) as [IncomingMessage]
      assert.equal(statusCode, 413)
      sent.destroy()
      assert.equal((await fetch(url)).status, 405)
    })
  }
})
