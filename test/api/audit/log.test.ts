import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { jsonText } from '../../../src/kernel/json/text.js'
import { parseJson } from '../../../src/kernel/json/parse.js'
import { parseProof } from '../../../src/kernel/tlog/entries.js'
import { leafHash, rootOfPath, rootOver } from '../../../src/kernel/tlog/merkle.js'
import { openNote, parseCheckpoint, parseVerifierKey } from '../../../src/kernel/tlog/note.js'
import { each } from '../../contract/event-store/erasing.js'
import type { TestService } from '../../support/service.js'
import { accepted, textIn } from '../calls/given.js'
import { sharedService } from '../shared-service.js'

interface SealedLine {
  readonly id: string
  readonly stream: string
  readonly revision: string
  readonly type: string
  readonly position: string
  readonly data: JsonObject
  readonly metadata: JsonObject
  readonly index?: number
  readonly salt?: string
}

describe('the signed tree of the event log', () => {
  let service: TestService
  const [own, other] = [1, 2].map(() => `team-${randomUUID().slice(0, 8)}`) as [string, string]
  let key: string
  let size: number

  const get = (path: string, as?: string) =>
    service.send('GET', path, undefined, as === undefined ? {} : { key: as })
  const eventsOf = async (query = '', as?: string) =>
    (await get(`/api/events?seal=true${query}`, as)).text
      .split('\n')
      .slice(0, -1)
      .map((line) => parseJson(line) as unknown as SealedLine)
  const checkpointOf = async (minimum: number) => {
    for (;;) {
      const answer = await get('/api/log/checkpoint')
      if (answer.status === 200 && parseCheckpoint(answer.text).size >= minimum) return answer
      await sleep(50)
    }
  }
  const verifierKeys = async () =>
    ((await get('/api/log/checkpoints')).json()['verifier_keys'] as string[]).map(parseVerifierKey)

  before(async () => {
    service = await sharedService()
    for (const team of [own, other]) await service.teams.create(team).json()
    const added = await service.post(`/api/teams/${own}/members`, { user: `u-${own}`, role: 'member' })
    key = textIn(accepted(added), 'api_key')
    for (const team of [own, other]) await service.in(`${team}/project`).calls.start().json()
    const events = await eventsOf()
    const signed = await checkpointOf(events.length)
    size = parseCheckpoint(signed.text).size
  })

  it('has a checkpoint that the published keys verify, with a time', async () => {
    const answer = await checkpointOf(size)
    assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
    const { text, signatures } = openNote(answer.text, await verifierKeys())
    assert.equal(parseCheckpoint(text).origin, signatures[0]!.key.name)
    assert.equal(signatures.length, 2)
    assert.ok(Math.abs(signatures.find(({ time }) => time !== undefined)!.time! - Date.now() / 1000) < 3600)
    const logged = service.logged.find(({ event }) => event === 'log.signed_by')
    assert.deepEqual(
      logged?.['verifier_keys'],
      (await verifierKeys()).map((one) => one.text),
    )
  })

  it('commits to each event, its salt and its place', async () => {
    const events = (await eventsOf()).slice(0, size)
    assert.deepEqual(
      events.map(({ index }) => index),
      events.map((_, index) => index),
    )
    assert.equal(new Set(events.map(({ salt }) => salt)).size, size)
    const leaves = events.map(({ id, stream, revision, type, data, metadata, salt }) => {
      const hash = createHash('sha256').update(Buffer.from(salt!, 'base64'))
      const content = hash.update(`${jsonText(data)}\n${JSON.stringify(metadata)}`).digest('base64')
      return leafHash(Buffer.from(JSON.stringify({ id, stream, revision, type, content })))
    })
    const { root } = parseCheckpoint((await checkpointOf(size)).text)
    const current = parseCheckpoint((await checkpointOf(size)).text).size
    if (current === size) assert.deepEqual(rootOver(Buffer.concat(leaves), 0, size), root)
    const width = Math.min(size, 256)
    const tile = await service.send('GET', `/api/log/tile/0/000${width === 256 ? '' : `.p/${width}`}`)
    assert.equal(tile.status, 200)
  })

  it('proves an event that the key may read, also with its stream', async () => {
    const [event] = await eventsOf('&limit=1', key)
    for (const query of ['', `&stream=${encodeURIComponent(event!.stream)}`]) {
      const answer = await get(`/api/log/proof?event=${event!.id}${query}`, key)
      assert.equal(answer.status, 200, answer.text)
      const proof = parseProof(answer.text)!
      const { text } = openNote(proof.checkpoint, await verifierKeys())
      const { size: covered, root } = parseCheckpoint(text)
      assert.equal(proof.index, event!.index)
      assert.equal((JSON.parse(proof.entry.toString()) as SealedLine).id, event!.id)
      assert.deepEqual(rootOfPath(leafHash(proof.entry), proof.index, covered, proof.path), root)
    }
  })

  it('answers for an event of another team as for one that does not exist', async () => {
    const [theirs] = (await eventsOf()).filter(({ data }) => data['project_id'] === `${other}/project`)
    assert.ok(theirs)
    const stream = encodeURIComponent(theirs.stream)
    const refused = await Promise.all(
      [
        `event=${theirs.id}`,
        `event=${theirs.id}&stream=${stream}`,
        `event=${randomUUID()}`,
        `event=${randomUUID()}&stream=${stream}`,
        `event=none&stream=none`,
      ].map((query) => get(`/api/log/proof?${query}`, key)),
    )
    for (const answer of refused) assert.deepEqual([answer.status, answer.text], [404, refused[0]!.text])
    assert.equal((await get(`/api/log/proof?event=${theirs.id}`)).status, 200)
  })

  it('gives hash tiles to each key, and entries to the administrator', async () => {
    assert.equal((await get('/api/log/tile/0/000.p/1', key)).status, 200)
    assert.equal((await get('/api/log/tile/entries/000.p/1', key)).status, 403)
    const bundle = await get('/api/log/tile/entries/000.p/1')
    assert.equal(bundle.status, 200)
    assert.match(bundle.text, /"stream":"access-directory"/)
    for (const path of ['0/999', '0/x001', '7/000.p/1', '00/000.p/1', 'entries/999', '0/000.p/256'])
      assert.equal((await get(`/api/log/tile/${path}`)).status, 404, path)
  })

  it('sends the digest in place of the salt after the data was erased', async () => {
    const started = (events: readonly SealedLine[]) => events.find(({ type }) => type === 'CallStarted')!
    const before = started(await eventsOf('', key))
    const [data, metadata] = [jsonText(before.data), jsonText(before.metadata)]
    const hash = createHash('sha256').update(Buffer.from(before.salt!, 'base64'))
    const content = hash.update(`${data}\n${metadata}`).digest('base64')
    const left = { ...before.data, inputs: { erased: true } }
    await service.stores.eventStore.erase!(each([{ position: BigInt(before.position), data: left }]))

    const { salt: _, ...unsalted } = before
    const expected = { ...unsalted, data: left, erased: true, content }
    assert.deepEqual(started(await eventsOf('', key)), expected)
  })

  it('gives no salt where the key sees the data in part', async () => {
    const event = {
      id: randomUUID(),
      team: own,
      name: 'w',
      url: 'https://x.example',
      headers: { authorization: 'Bearer b' },
    }
    const cause = { correlationId: 'c', causationId: 'c', actor: 'system', schemaVersion: 1 }
    await service.stores.eventStore.append(`webhook-${event.id}`, 'none', [
      { id: randomUUID(), type: 'WebhookCreated', data: { ...event, enabled: true }, metadata: cause },
    ])
    const administrator = await service.teams.keyOf(own, `a-${own}`, ['team_administrator'])
    const stream = `&stream=webhook-${event.id}`
    const [seen] = await eventsOf(stream, administrator)
    assert.notDeepEqual(seen?.data['headers'], event.headers)
    assert.equal(seen?.salt, undefined)
    assert.ok((await eventsOf(stream))[0]?.salt)
  })
})
