import assert from 'node:assert/strict'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { aStart } from '../../support/call-requests.js'
import { eventsOf } from '../calls/given.js'

interface Slow {
  /** Sends the rest; the status of the answer. */
  readonly rest: () => Promise<number>
}

describe('a body that takes long to come', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
    await service.teams.create('slow')
  })

  const keyOf = async (user: string) => await service.teams.keyOf('slow', user, 'member')

  /** A request of which the service has read the head, and the body's beginning is under way. */
  const begun = async (path: string, key: string, type: string, body: string): Promise<Slow> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': type, expect: '100-continue' }
    const sent = request(`${service.address}${path}`, { method: 'POST', headers })
    const answered = new Promise<number>((resolve, reject) => {
      sent.on('error', reject)
      sent.on('response', (response) => {
        void text(response).then(() => resolve(response.statusCode!), reject)
      })
    })
    await new Promise<void>((resolve) => {
      sent.on('continue', resolve)
      sent.flushHeaders()
    })
    sent.write(body.slice(0, 10))
    return {
      rest: () => {
        sent.end(body.slice(10))
        return answered
      },
    }
  }

  const start = (id: string) => JSON.stringify({ start: aStart('slow/p', { id }) })
  const form = [
    '--line\r\ncontent-disposition: form-data; name="project_id"\r\n\r\nslow/p',
    '--line\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\ncontent',
    '--line--\r\n',
  ].join('\r\n')
  const FORM_TYPE = 'multipart/form-data; boundary=line'

  /** Requests of a key, begun; and how many events there were of its project. */
  const severalOf = async (key: string, id: string) =>
    Promise.all([
      begun('/call/start', key, 'application/json', start(id)),
      begun('/call/upsert_batch', key, 'application/json', '{"batch":[]}'),
      begun('/file/create', key, FORM_TYPE, form),
    ])

  const answersOf = async (several: readonly Slow[]) => Promise.all(several.map(({ rest }) => rest()))

  it('is taken from a key that is still valid', async () => {
    assert.deepEqual(await answersOf(await severalOf(await keyOf('valid'), 'valid')), [200, 200, 200])
  })

  it('is refused with a key that was revoked meanwhile', async () => {
    const key = await keyOf('revoked')
    const several = await severalOf(key, 'revoked')
    const { data } = (await service.send('GET', '/api/users/me/api-keys', undefined, { key })).json<{
      data: readonly { readonly id: string }[]
    }>()
    const path = `/api/users/me/api-keys/${data[0]!.id}`
    assert.equal((await service.send('DELETE', path, undefined, { key })).status, 200)
    assert.deepEqual(await answersOf(several), [401, 401, 401])
    assert.deepEqual(await eventsOf(service, 'call-slow/p/revoked'), [])
  })

  it('is refused from a user who left the team meanwhile', async () => {
    const several = await severalOf(await keyOf('left'), 'left')
    assert.equal((await service.send('DELETE', '/api/teams/slow/members/left')).status, 200)
    const [ofStart, , ofFile] = await answersOf(several)
    assert.deepEqual([ofStart, ofFile], [404, 404])
    assert.deepEqual(await eventsOf(service, 'call-slow/p/left'), [])
  })
})
