import assert from 'node:assert/strict'
import fc from 'fast-check'
import { mayRead, projectOfStream } from '../../../src/domain/access/visible.js'
import { catalogue } from '../../../src/domain/catalogue.js'
import { troublesomeText } from '../../support/arbitrary-json.js'

const name = fc.stringMatching(/^[A-Za-z0-9._-]{1,12}$/)
const OF_PROJECTS = catalogue.filter(({ stream }) => stream.includes('<entity>/<project>'))

const arbitraryEvent = fc
  .record({
    aggregate: fc.constantFrom(...OF_PROJECTS),
    team: name,
    project: name,
    rest: troublesomeText(),
  })
  .map(({ aggregate, team, project, rest }) => {
    const prefix = aggregate.stream.split('<')[0]!
    const thing = aggregate.stream.split('<project>')[1] === '' ? '' : `/${rest}`
    const project_id = `${team}/${project}`
    return { team, project_id, event: { stream: `${prefix}${project_id}${thing}`, data: { project_id } } }
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
        assert.ok(mayRead({ administrator: true, teams: [] }, event))
        assert.ok(mayRead({ administrator: false, teams: [...teams, team] }, event))
        const others = teams.filter((one) => one !== team)
        assert.ok(!mayRead({ administrator: false, teams: others }, event))
      }),
    )
  })

  it('needs its stream and its data to say the same', () => {
    fc.assert(
      fc.property(arbitraryEvent, arbitraryEvent, ({ event, team, project_id }, other) => {
        fc.pre(other.project_id !== project_id)
        const mixed = { stream: event.stream, data: other.event.data }
        assert.ok(!mayRead({ administrator: false, teams: [team, other.team] }, mixed))
      }),
    )
  })

  it('is nobody but the administrator where the stream is of no project', () => {
    const data = { project_id: 'team/project' }
    for (const stream of ['access-directory', 'secret-team/name', 'call-team', 'xcall-team/project/1', ''])
      assert.ok(!mayRead({ administrator: false, teams: ['team'] }, { stream, data }))
  })
})
