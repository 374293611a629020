import assert from 'node:assert/strict'
import { gunzipSync } from 'node:zlib'
import { spansInJson } from '../../../src/api/otel/json-request.js'
import type { Span } from '../../../src/domain/otel/span.js'
import { parseJson } from '../../../src/kernel/json/parse.js'
import { startAnsweringServer, type AnsweringServer } from '../../support/answering-server.js'
import { startTestService } from '../../support/service.js'
import { until } from '../../support/until.js'

describe('traces of own requests', () => {
  let collector: AnsweringServer
  let received: Promise<Span[]>[] = []
  let status = 200
  before(async () => {
    collector = await startAnsweringServer((_, answer) => void answer.writeHead(status).end('{}'))
    collector.onBody((body) => {
      const request = parseJson(gunzipSync(Buffer.from(body, 'latin1')).toString())
      received.push(spansInJson(request).then((spans) => spans.map(({ span }) => span as Span)))
    })
  })
  after(() => collector.stop())
  beforeEach(() => {
    received = []
    status = 200
  })

  it('are sent to the collector without paths, queries and ingest', async () => {
    const service = await startTestService({ TALLYTREE_OTLP_EXPORT_URL: collector.url })
    await service.calls.start({ id: 'one' }).json()
    await service.send('GET', '/api/projects/default/project?secret=1')
    const missing = await service.send('GET', '/nothing/secret')
    await service.post('/v1/traces', { resourceSpans: [] })
    await service.stop()

    const spans = (await Promise.all(received)).flat()
    assert.deepEqual(
      spans.map(({ name, attributes }) => [name, attributes['http.response.status_code']]),
      [
        ['GET /api/projects/:entity/:project', 200],
        ['any unmatched', missing.status],
      ],
    )
    assert.equal(spans[1]!.attributes['tallytree.request_id'], missing.headers.get('x-request-id'))
    assert.ok(spans.every(({ start, end }) => end >= start))
    assert.ok(!JSON.stringify(spans.map(({ attributes }) => attributes)).includes('secret'))
  })

  it('are counted and logged once where the collector refuses them', async () => {
    status = 400
    const service = await startTestService({ TALLYTREE_OTLP_EXPORT_URL: collector.url })
    for (let n = 0; n < 512; n += 1) await service.send('GET', '/health')
    await service.send('GET', '/health')
    await until(async () =>
      /tallytree_trace_spans_dropped_total 512/.test((await service.send('GET', '/metrics')).text),
    )
    await service.stop()
    assert.equal(service.logged.filter(({ event }) => event === 'traces.dropped').length, 1)
  })

  it('are not sent to the service itself', async () => {
    const port = 24_600 + Math.floor(Math.random() * 1000)
    await assert.rejects(
      startTestService({
        TALLYTREE_PORT: String(port),
        TALLYTREE_OTLP_EXPORT_URL: `http://localhost:${port}`,
      }),
      /TALLYTREE_OTLP_EXPORT_URL: http:\/\/localhost:\d+ is this service/,
    )
  })
})
