import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openRemoteService } from '../../../../src/adapters/remote-service/remote-service.js'

const lineOf = (position: number) =>
  `${JSON.stringify({
    id: String(position),
    type: 'T',
    stream: 's',
    revision: '0',
    position: String(position),
    recorded_at: '2026-01-01T00:00:00.000Z',
    data: { text: '漢字😀' },
    metadata: {},
  })}\n`

describe('the log of a running service', () => {
  let server: Server
  let address: string
  let answers: ((after: number) => { readonly text: string; readonly whole: boolean })[]
  before(async () => {
    server = createServer((request, response) => {
      const url = new URL(request.url!, 'http://service')
      if (/^\/api\/(blobs|log)\//.test(url.pathname)) return void response.writeHead(404).end()
      const { text, whole } = answers.shift()!(Number(url.searchParams.get('after')))
      response.writeHead(200)
      response.write(text, () => (whole ? response.end() : response.destroy()))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => server.close())

  const positions = async () => {
    const found: bigint[] = []
    const service = await openRemoteService(address, 'key')
    for await (const { position } of service.readAll(0n)) found.push(position)
    return found
  }

  it('is taken up again behind the last whole line when an answer breaks off', async () => {
    const asked: number[] = []
    const answer = (text: string, whole: boolean) => (after: number) => {
      asked.push(after)
      return { text, whole }
    }
    answers = [
      answer(lineOf(1) + lineOf(3) + lineOf(4).slice(0, 20), false),
      answer(lineOf(4), false),
      answer(lineOf(9), true),
    ]
    assert.deepEqual(await positions(), [1n, 3n, 4n, 9n])
    assert.deepEqual(asked, [0, 3, 4])
  })

  it('is not whole when answers bring nothing more', async () => {
    answers = [() => ({ text: lineOf(1), whole: false }), () => ({ text: '{"id', whole: false })]
    await assert.rejects(positions())
  })
})
