import assert from 'node:assert/strict'
import { saying } from '../../support/upstreams/behaviours.js'
import { startUpstream } from '../../support/upstreams/upstream.js'
import type { TestService } from '../../support/service.js'
import { accepted, textIn } from '../calls/given.js'
import { anUpstream, UPSTREAMS } from '../gateway/given.js'
import { sharedService, someProject } from '../shared-service.js'
import { endpointsOf } from './endpoints.js'
import { isPrivate } from './private-answers.js'

describe('every answer that is not an asset', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  const ask = async (path: string, request: RequestInit = {}) => {
    const answer = await fetch(`${service.address}${path}`, request)
    await answer.arrayBuffer()
    return answer
  }
  const authorization = { authorization: 'Bearer administrator-key-of-the-tests' }

  it('is private and has a fixed type at every endpoint, without a key', async () => {
    const wrong: string[] = []
    for (const { method, path } of await endpointsOf(service)) {
      const { headers } = await ask(path, { method })
      if (!isPrivate(headers)) wrong.push(`${method} ${path}: ${JSON.stringify([...headers])}`)
    }
    assert.deepEqual(wrong, [])
  })

  it('is so for unknown paths, methods and pages, too', async () => {
    for (const [path, request] of [
      ['/nowhere', {}],
      ['/api/nowhere', {}],
      ['/assets/nowhere.js', {}],
      ['/api/teams', { method: 'PUT' }],
      ['/api/teams', { method: 'OPTIONS' }],
      ['/api/teams', { method: 'HEAD' }],
      ['/call/start', { method: 'POST', body: '{', headers: authorization }],
      ['/', { headers: { accept: 'text/html' } }],
      ['/settings', { headers: { accept: 'text/html' } }],
    ] as const)
      assert.ok(isPrivate((await ask(path, request)).headers), path)
  })

  it('is so for contents, uploads and streams', async () => {
    const project = someProject()
    const team = project.split('/')[0]!
    const form = new FormData()
    form.set('project_id', project)
    form.set('file', new Blob(['<script>']), 'a.html')
    const stored = await fetch(`${service.address}/file/create`, {
      method: 'POST',
      headers: authorization,
      body: form,
    })
    assert.ok(isPrivate(stored.headers))
    const { digest } = (await stored.json()) as { digest: string }
    const content = await service.post('/file/content', { project_id: project, digest })
    assert.deepEqual([content.text, isPrivate(content.headers)], ['<script>', true])

    const training = new FormData()
    training.set('purpose', 'fine-tune')
    training.set(
      'file',
      new Blob(['{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}']),
      'a.jsonl',
    )
    const headers = { ...authorization, 'openai-project': project }
    const file = await fetch(`${service.address}/v1/files`, { method: 'POST', headers, body: training })
    const { id } = (await file.json()) as { id: string }
    const downloaded = await ask(`/v1/files/${id}/content`, { headers })
    assert.deepEqual([downloaded.status, isPrivate(downloaded.headers)], [200, true])

    const upstream = await startUpstream(saying(['well']))
    accepted(await service.post(UPSTREAMS, anUpstream({ team, base_url: upstream.baseUrl })))
    const stream = await service.post(
      '/v1/chat/completions',
      { model: 'chat', stream: true, messages: [{ role: 'user', content: 'a' }] },
      { headers: { 'openai-project': project } },
    )
    assert.match(stream.text, /\[DONE\]/)
    assert.ok(isPrivate(stream.headers))
    const events = await service.send('GET', '/api/events?limit=1')
    assert.ok(isPrivate(events.headers))
    assert.ok(textIn(JSON.parse(events.text.split('\n')[0]!) as never, 'id'))
    await upstream.close()
  })
})
