import assert from 'node:assert/strict'
import { MemoryAccount } from '../../src/kernel/memory-account.js'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { Failure } from '../../src/application/failure.js'
import type { Access } from '../../src/application/access/access.js'
import { administratorKey, anyKey } from '../../src/api/server/authorization.js'
import { readerOfRequest } from '../../src/api/server/serve.js'
import type { HasReader } from '../../src/api/server/run.js'
import type { OnDisconnect } from '../../src/application/on-disconnect.js'
import { string } from '../../src/kernel/codec/leaves.js'
import { open } from '../../src/kernel/codec/struct.js'
import { writtenAs, type AnyRoute } from '../../src/api/server/route.js'
import {
  changeProject,
  openRoute,
  readDirectory,
  readLog,
  readPresent,
  readProject,
  readProjectLog,
  readProjects,
  writeDirectory,
  writeProject,
} from '../../src/api/server/route-kinds.js'
import { entityOf } from '../../src/kernel/ids.js'
import type { ClickHouseReader } from '../../src/kernel/ports/clickhouse.js'

const POSITION = 'Tallytree-Position'
const PRESENT = ['Tallytree-Min-Position', 'Tallytree-Stale']
const spec = { method: 'post', path: '/it', summary: '', response: writtenAs<unknown>({}) } as const

/** Routes of every kind, whose parts and handlers note what is done in which order. */
const noting = () => {
  const steps: string[] = []
  const note = (step: string) => steps.push(step)
  const waiting = (step: string) => () => Promise.resolve((note(step), 7n))
  const parts = {
    access: {
      canAccessTeam: () => false,
      canAccessProject: (_: unknown, id: string) => (
        note(`access ${entityOf(id)}`),
        entityOf(id) !== 'foreign'
      ),
      ensureTeam: async (_: unknown, team: string) => void note(`team ${team}`),
    } as unknown as Access,
    throttle: async () => void note('throttle'),
    reading: {
      ackPosition: (project: string, written = 0n) => (note(`acknowledge ${project}`), written),
      generation: () => '0',
      waitForAsOf: waiting('wait as of'),
      waitForNow: waiting('wait for now'),
      logPosition: waiting('log position'),
    },
  }
  const read = () => (note('check'), () => (note('read'), { body: {} }))
  const write = () => (note('check'), () => (note('write'), { body: {}, position: 9n }))
  const respond = () => (note('respond'), { body: {} })
  const project = () => 'own/project'
  const projects = () => ['own/b', 'own/a', 'own/b']
  const authorization = { ...anyKey, authorize: () => (note('authorise'), {}) }
  return {
    steps,
    parts,
    openRoute: openRoute({ ...spec, handle: () => Promise.resolve(respond()) }),
    readDirectory: readDirectory({ ...spec, authorization, handle: respond }),
    readProject: readProject(parts, { ...spec, project, handle: read }),
    readProjectLog: readProjectLog(parts, { ...spec, project, handle: read }),
    readLog: readLog(parts, { ...spec, authorization, handle: read }),
    readPresent: readPresent(parts, { ...spec, authorization, scope: () => 'all', handle: read }),
    writeProject: writeProject(parts, { ...spec, project, handle: write }),
    'writeProject for a batch': writeProject(parts, { ...spec, project: projects, handle: write }),
    changeProject: changeProject(parts, { ...spec, project, handle: write }),
    writeDirectory: writeDirectory({ ...spec, authorization, handle: write }),
    foreign: writeProject(parts, { ...spec, project: () => 'foreign/project', handle: write }),
    administration: readDirectory({ ...spec, authorization: administratorKey, handle: respond }),
  }
}

const NO_READER: ClickHouseReader = {
  knownParts: { refusedUntil: 0, ranges: new Map(), counts: new Map() },
  query: () => Promise.resolve([]),
  stream: () => Readable.from([]),
}

const asking = (
  { handle }: AnyRoute,
  onDisconnect: OnDisconnect = () => () => undefined,
  shared = NO_READER,
) => {
  const principal = {
    userId: 'u',
    keyId: 'k',
    administrator: false,
    teams: ['first', 'own'],
    administers: [],
    scope: 'all' as const,
  }
  return handle({
    body: undefined,
    params: {},
    query: undefined,
    headers: {},
    principal,
    reauthenticate: () => principal,
    cause: { correlationId: 'c', causationId: 'c', actor: 'u' },
    stream: new IncomingMessage(new Socket()),
    onDisconnect,
    memory: new MemoryAccount(Infinity).lease(''),
    readerOf: (team) => readerOfRequest(shared, onDisconnect, team),
  })
}

describe('a route of a kind', () => {
  const kinds = [
    ['openRoute', ['respond'], undefined, [], []],
    ['readDirectory', ['authorise', 'respond'], undefined, [], []],
    [
      'readProject',
      ['access own', 'check', 'wait as of', 'read'],
      7n,
      [...PRESENT, 'Tallytree-As-Of'],
      [POSITION],
    ],
    ['readProjectLog', ['access own', 'check', 'log position', 'read'], 7n, PRESENT, [POSITION]],
    ['readLog', ['authorise', 'check', 'log position', 'read'], 7n, PRESENT, [POSITION]],
    ['readPresent', ['authorise', 'check', 'wait for now', 'read'], 7n, PRESENT, [POSITION]],
    [
      'writeProject',
      ['access own', 'check', 'team own', 'throttle', 'write', 'acknowledge own/project'],
      ...([9n, [], [POSITION]] as const),
    ],
    [
      'writeProject for a batch',
      [
        'access own',
        'access own',
        'check',
        'team own',
        'throttle',
        'write',
        'acknowledge own/b',
        'acknowledge own/a',
      ],
      ...([9n, [], [POSITION]] as const),
    ],
    ['changeProject', ['access own', 'check', 'write', 'acknowledge own/project'], 9n, [], [POSITION]],
    ['writeDirectory', ['authorise', 'check', 'write'], 9n, [], [POSITION]],
  ] as const

  for (const [kind, expected, position, requestHeaders, responseHeaders] of kinds)
    it(`runs its steps in order and describes itself: ${kind}`, async () => {
      const { steps, parts: _, ...routes } = noting()
      const route = routes[kind]
      const response = await asking(route)
      assert.deepEqual(steps, expected)
      assert.equal(response.position, position)
      assert.deepEqual([route.requestHeaders, route.responseHeaders], [requestHeaders, responseHeaders])
      assert.equal(route.access, kind === 'openRoute' ? 'open' : undefined)
    })

  it('does nothing after an authorisation that refuses', async () => {
    const { steps, foreign, administration } = noting()
    await assert.rejects(asking(foreign), (error) => error instanceof Failure && error.kind === 'not-found')
    await assert.rejects(
      asking(administration),
      (error) => error instanceof Failure && error.kind === 'forbidden',
    )
    assert.deepEqual(steps, ['access foreign'])
    assert.ok(foreign.errors?.includes('not-found') === true)
    assert.deepEqual(administration.errors, ['forbidden'])
  })

  const { parts } = noting()
  const queried = async ({ reader }: HasReader) => ({ body: await reader.query('SELECT 1') })
  const read = (request: HasReader) => () => queried(request)
  const write = async (request: HasReader) => {
    const response = await queried(request)
    return () => response
  }
  const project = () => 'own/project'
  const ofTeam = { ...anyKey, authorize: () => ({ team: 'other' }) }
  const scope = () => 'all'
  const readers = [
    ['readProject', 'own', readProject(parts, { ...spec, project, handle: read })],
    ['readProjects', 'first', readProjects({ ...spec, handle: queried })],
    ['readPresent', 'first', readPresent(parts, { ...spec, authorization: anyKey, scope, handle: read })],
    [
      'readPresent of a team',
      'other',
      readPresent(parts, { ...spec, authorization: ofTeam, scope, handle: read }),
    ],
    ['writeProject', 'own', writeProject(parts, { ...spec, project, handle: write })],
    ['changeProject', 'own', changeProject(parts, { ...spec, project, handle: write })],
    ['writeDirectory', 'first', writeDirectory({ ...spec, authorization: anyKey, handle: write })],
    ['writeDirectory of a team', 'other', writeDirectory({ ...spec, authorization: ofTeam, handle: write })],
  ] as const

  for (const [kind, team, route] of readers)
    it(`queries in the share of the team until the client disconnects: ${kind}`, async () => {
      const queries: unknown[] = []
      const shared: ClickHouseReader = {
        ...NO_READER,
        query: async (_, __, { team, signal } = {}) => (queries.push([team, signal?.aborted]), []),
      }
      await asking(route, undefined, shared)
      await asking(route, (leave) => (leave(), () => undefined), shared)
      assert.deepEqual(queries, [
        [team, false],
        [team, true],
      ])
    })

  it('does not compile with an answer other than its description', () => {
    const response = open('Answer', { required: { id: string }, optional: { name: string } })
    const route = { ...spec, response, authorization: anyKey }
    readDirectory({ ...route, handle: () => ({ body: { id: 'a' } }) })
    // @ts-expect-error -- `id` is missing
    readDirectory({ ...route, handle: () => ({ body: { name: 'a' } }) })
  })

  it('waits as the handler plans where that is not the way of its kind', async () => {
    const { steps, parts } = noting()
    const route = readProject(parts, {
      ...spec,
      project: () => 'own/project',
      handle: () => ({
        waitFor: () => Promise.resolve(5n),
        read: (position) => ({ body: { read: String(position) } }),
      }),
    })
    assert.deepEqual(await asking(route), { position: 5n, body: { read: '5' } })
    assert.deepEqual(steps, ['access own'])
  })
})
