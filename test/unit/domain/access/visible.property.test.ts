import assert from 'node:assert/strict'
import fc from 'fast-check'
import { mayRead, mayReadFrom, projectOfStream, visibleData } from '../../../../src/domain/access/visible.js'
import { catalogue } from '../../../../src/domain/catalogue.js'
import { projectName as projectNameCodec } from '../../../../src/kernel/ids.js'
import { troublesomeText } from '../../../support/arbitrary-json.js'

const name = fc.stringMatching(/^[A-Za-z0-9._-]{1,12}$/)
const projectName = fc.oneof(
  name,
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 128 }).filter((text) => projectNameCodec.is(text)),
)
const OF_PROJECTS = catalogue.filter(({ stream }) => stream.includes('<entity>/<project>'))

/** Aggregates of a team, whose streams say so or whose events do. */
const OF_TEAMS = catalogue.filter(({ stream }) => /^\w+-<team>/.test(stream))
const OF_THINGS = catalogue.filter(({ stream }) =>
  /^((webhook|webhook_health|automation|delivery|redrive)-<id>|upstreams)$/.test(stream),
)

/** What a team shows to its administrators alone. */
const GUARDED = OF_TEAMS.concat(OF_THINGS).filter(({ stream }) =>
  /^(webhook-|webhook_health-|secret|limits|upstreams)/.test(stream),
)

const arbitraryEvent = fc
  .record({
    aggregate: fc.constantFrom(...OF_PROJECTS),
    team: name,
    project: projectName,
    rest: troublesomeText(),
  })
  .map(({ aggregate, team, project, rest }) => {
    const prefix = aggregate.stream.split('<')[0]!
    const thing = aggregate.stream.split('<project>')[1] === '' ? '' : `/${rest}`
    const project_id = `${team}/${project}`
    return { team, project_id, event: { stream: `${prefix}${project_id}${thing}`, data: { project_id } } }
  })

const arbitraryTeamEvent = fc
  .record({ aggregate: fc.constantFrom(...OF_TEAMS, ...OF_THINGS), team: name, rest: troublesomeText() })
  .map(({ aggregate: { stream: template }, team, rest }) => {
    const stream = template
      .replace('<team>', () => team)
      .replace(/(\/?)<.*/, (_, slash: string) => slash + rest)
    const isGuarded = GUARDED.some(({ stream }) => stream === template)
    return { team, namesIt: template.includes('<team>'), isGuarded, event: { stream, data: { team } } }
  })

type Reader = Parameters<typeof mayRead>[0]

const ADMINISTRATOR: Reader = { administrator: true, teams: [], administers: [] }

/** Of these teams, and administering these of them. */
const of = (teams: readonly string[], administers = teams): Reader => ({
  administrator: false,
  teams,
  administers,
})

describe('whose an event is', () => {
  it('is said by the name of its stream, in every aggregate that has one project', () => {
    const others = catalogue.filter((aggregate) => !OF_PROJECTS.includes(aggregate))
    for (const { stream } of others) assert.equal(projectOfStream(stream), undefined)
    fc.assert(
      fc.property(arbitraryEvent, ({ event, project_id }) => {
        assert.equal(projectOfStream(event.stream), project_id)
      }),
    )
  })

  it('lets the members of its team read it, and the administrator, and nobody else', () => {
    fc.assert(
      fc.property(arbitraryEvent, fc.array(name), ({ event, team }, teams) => {
        assert.ok(mayRead(ADMINISTRATOR, event))
        assert.ok(mayRead(of([...teams, team]), event))
        const others = teams.filter((one) => one !== team)
        assert.ok(!mayRead(of(others), event))
      }),
    )
  })

  it('needs its stream and its data to say the same', () => {
    fc.assert(
      fc.property(arbitraryEvent, arbitraryEvent, ({ event, team, project_id }, other) => {
        fc.pre(other.project_id !== project_id)
        const mixed = { stream: event.stream, data: other.event.data }
        assert.ok(!mayRead(of([team, other.team]), mixed))
      }),
    )
  })

  it('is nobody but the administrator where the stream is of no project', () => {
    const data = { project_id: 'team/project' }
    for (const stream of ['access-directory', 'secret-team/name', 'call-team', 'xcall-team/project/1', ''])
      assert.ok(!mayRead(of(['team']), { stream, data }))
  })

  it('is said for every aggregate there is: of a project, of a team, or of the administrator alone', () => {
    const others = catalogue.filter((one) => ![OF_PROJECTS, OF_TEAMS, OF_THINGS].flat().includes(one))
    assert.deepEqual(
      others.map(({ name }) => name),
      ['access', 'trained model', 'training job', 'training worker', 'client id of an artifact', 'rebuild'],
    )
  })

  it('is its team, for what belongs to no project: its members may read it, and nobody else', () => {
    fc.assert(
      fc.property(arbitraryTeamEvent, fc.array(name), ({ event, team }, teams) => {
        for (const may of [mayRead, (who: Reader) => mayReadFrom(who, event.stream)]) {
          assert.ok(may(ADMINISTRATOR, event))
          assert.ok(may(of([...teams, team]), event))
        }
        const others = teams.filter((one) => one !== team)
        assert.ok(!mayRead(of(others), event))
      }),
    )
  })

  it('is its administrators’, where a team shows it to nobody else', () => {
    assert.deepEqual(GUARDED.map(({ name }) => name).sort(), [
      'limit',
      'secret',
      'upstream',
      'webhook',
      'webhook health',
    ])
    fc.assert(
      fc.property(arbitraryTeamEvent, fc.array(name), ({ event, team, isGuarded }, administers) => {
        const others = administers.filter((one) => one !== team)
        assert.equal(mayRead(of([team, ...others], others), event), !isGuarded)
      }),
    )
  })

  it('is the team’s administrators’ too, where the directory says who is a member of it', () => {
    const stream = 'access-directory'
    const added = { stream, data: { team: 'red', user: 'ada', roles: ['member'] } }
    const issued = { stream, data: { user: 'ada', hash: '0'.repeat(64) } }
    const readers = [of(['red']), of(['red'], []), of(['blue'])]
    assert.deepEqual(
      readers.map((who) => [mayRead(who, added), mayRead(who, issued), mayReadFrom(who, stream)]),
      [
        [true, false, true],
        [false, false, false],
        [false, false, true],
      ],
    )
  })

  it('needs a stream that names a team and its data to say the same, and data to name one', () => {
    fc.assert(
      fc.property(arbitraryTeamEvent, name, ({ event, team, namesIt }, other) => {
        fc.pre(team !== other)
        const teams = [team, other]
        const mixed = { stream: event.stream, data: { team: other } }
        assert.equal(mayRead(of(teams), mixed), !namesIt)
        for (const data of [{}, { team: null }, { team: [team] }, { project_id: `${team}/project` }])
          assert.ok(!mayRead(of(teams), { stream: event.stream, data }))
      }),
    )
  })

  it('hides the receiver’s address from members, and written out credentials from all but the administrator', () => {
    const finished = { type: 'AttemptFinished', data: { team: 'red', peer: '203.0.113.1', status: 200 } }
    const readers = [of(['red'], []), of(['red']), ADMINISTRATOR]
    assert.deepEqual(
      readers.map((who) => visibleData(who, finished)['peer']),
      [null, '203.0.113.1', '203.0.113.1'],
    )
    for (const type of ['WebhookCreated', 'WebhookChanged', 'UpstreamCreated', 'UpstreamChanged']) {
      const made = {
        type,
        data: { team: 'red', headers: { Cookie: 'hush' }, query: { key: 'hush', v: '1' } },
      }
      assert.deepEqual(visibleData(of(['red']), made), {
        team: 'red',
        headers: { Cookie: '[secret]' },
        query: { key: '[secret]', v: '1' },
      })
      assert.equal(visibleData(ADMINISTRATOR, made), made.data)
    }
    const call = {
      type: 'CallStarted',
      data: { inputs: {}, headers: { Cookie: 'of the user' }, query: null },
    }
    assert.equal(visibleData(of(['red']), call), call.data)
  })

  it('is not to be asked of a stream whose name is of others', () => {
    fc.assert(
      fc.property(fc.oneof(arbitraryEvent, arbitraryTeamEvent), fc.array(name), ({ event, team }, teams) => {
        const others = of(teams.filter((one) => one !== team))
        if (!mayReadFrom(others, event.stream)) assert.ok(!mayRead(others, event))
        const owner = of([team])
        assert.ok(mayReadFrom(owner, event.stream))
        assert.ok(!mayReadFrom(of([team], []), 'access-directory') && !mayReadFrom(owner, ''))
      }),
    )
  })
})
