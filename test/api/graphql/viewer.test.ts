import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { accepted, writesNothing } from '../calls/given.js'
import { ask, dataOf, memberOf } from './given.js'

interface Page {
  readonly edges: readonly { readonly node: { readonly name: string } }[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
}

describe('the viewer', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const WHO = `{ viewer {
    id username name email admin entity flags photoUrl
    defaultEntity { id name isTeam readOnly } teams { edges { node { id name } } }
  } }`

  it('is the user of the key, with the first of their teams by name as default entity', async () => {
    const { user, teams, options } = await memberOf(service, 'zebra', 'ant')
    const [zebra, ant] = teams as [string, string]
    await writesNothing(service, async () =>
      assert.deepEqual(dataOf(await ask(service, WHO, undefined, options)), {
        viewer: {
          id: user,
          username: user,
          name: user,
          email: null,
          admin: false,
          entity: ant,
          flags: '{}',
          photoUrl: null,
          defaultEntity: { id: ant, name: ant, isTeam: true, readOnly: false },
          teams: { edges: [ant, zebra].map((name) => ({ node: { id: name, name } })) },
        },
      }),
    )
  })

  it('has the default entity "default" as administrator', async () => {
    const { viewer } = dataOf(await ask(service, WHO))
    assert.deepEqual(
      [viewer.username, viewer.admin, viewer.entity, viewer.defaultEntity.name],
      ['admin', true, 'default', 'default'],
    )
  })

  it('in no team has no default entity', async () => {
    const { user, teams, options } = await memberOf(service, 'left')
    accepted(await service.send('DELETE', `/api/teams/${teams[0]}/members/${user}`))
    const { viewer } = dataOf(await ask(service, WHO, undefined, options))
    assert.deepEqual(
      [viewer.username, viewer.entity, viewer.defaultEntity, viewer.teams.edges],
      [user, null, null, []],
    )
    const { data, errors } = await ask(service, '{ project(name: "p") { id } }', undefined, options)
    assert.deepEqual(data, { project: null })
    assert.match(errors![0]!.message, /entityName is required/)
  })

  it('reads their teams page by page', async () => {
    const { teams, options } = await memberOf(service, 'c', 'a', 'b')
    const sorted = teams.toSorted()
    const query = `query ($after: String, $first: Int) { viewer {
      teams(first: $first, after: $after) { edges { node { name } } pageInfo { hasNextPage endCursor } }
    } }`
    const seen: string[] = []
    for (let after: string | null = null, more = true; more;) {
      const page: Page = dataOf(await ask(service, query, { first: 2, after }, options)).viewer.teams
      seen.push(...page.edges.map(({ node }) => node.name))
      after = page.pageInfo.endCursor
      more = page.pageInfo.hasNextPage
    }
    assert.deepEqual(seen, sorted)
    for (const first of [0, -1, 1001]) {
      const { data, errors } = await ask(service, query, { first }, options)
      assert.deepEqual(
        [data, errors?.[0]?.message],
        [{ viewer: null }, 'first should be between 1 and 1000.'],
      )
    }
  })

  it('without a key is a 401', async () => {
    for (const path of ['/graphql', '/traces/graphql'])
      for (const key of [null, 'x'.repeat(40)]) {
        const refused = await service.post(path, { query: WHO }, { key })
        assert.equal(refused.status, 401)
        const { reason, errors } = refused.json<{ reason: string; errors: unknown }>()
        assert.deepEqual(errors, [{ message: reason }])
        assert.match(reason, /^A valid API key is required/)
      }
  })
})

describe('an entity', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('is shown to its members, and to others as if it were not there', async () => {
    const [one, other] = [await memberOf(service, 'one'), await memberOf(service, 'other')]
    const query = 'query ($name: String) { entity(name: $name) { id name isTeam readOnly } }'
    const name = one.teams[0]!
    assert.deepEqual(dataOf(await ask(service, query, { name }, one.options)), {
      entity: { id: name, name, isTeam: true, readOnly: false },
    })
    const asked = [name, 'nobody', '', 'a/b', 'x'.repeat(500), null]
    const told = await Promise.all(
      asked.map((entity) => ask(service, query, { name: entity }, other.options)),
    )
    for (const one of told) {
      assert.deepEqual(one, told[0])
      assert.equal(one.errors, undefined)
      assert.deepEqual(one.data, { entity: null })
    }
  })
})

describe('the server', () => {
  it('says what the vendor’s package asks of it', async () => {
    const query = `query ServerInfo { serverInfo {
      frontendHost cliVersionInfo latestLocalVersionInfo { outOfDate latestVersionString versionOnThisInstanceString }
      features { name isEnabled }
    } }`
    assert.deepEqual(dataOf(await ask(await sharedService(), query)), {
      serverInfo: {
        frontendHost: null,
        cliVersionInfo: { max_cli_version: '0.31.0' },
        latestLocalVersionInfo: null,
        features: [],
      },
    })
  })
})
