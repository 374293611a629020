import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { UsageQuery } from '../../projections/usage/query/groups-sql.js'
import type { UsageGroup } from '../../projections/usage/query/queries.js'
import { sumOfFigures } from '../../projections/usage/query/sums.js'
import type { Measure } from '../../projections/usage/columns.js'
import { usedProjects } from '../../projections/usage/used-projects.js'
import { Failure } from '../failure.js'

type Shape = Pick<UsageQuery, 'groupBy' | 'orderBy' | 'limit'>

const MAX_PROJECTS = 1000
const MAX_GROUPS = 100_000
const AT_ONCE = 3

/** The groups of all projects of a team, each in the prices of its project, in order; the sum of those beyond the limit is the last. */
export const teamUsage = async (
  reader: Pick<ClickHouseReader, 'query'>,
  team: string,
  usageOf: (project: string, limit: number) => Promise<readonly UsageGroup[]>,
  shape: Shape,
): Promise<readonly UsageGroup[]> => {
  const projects = await usedProjects(reader, team, MAX_PROJECTS + 1)
  if (projects.length > MAX_PROJECTS)
    throw new Failure('too-large', `The team has more than ${MAX_PROJECTS} projects with usage.`)
  const merged = new Map<string, UsageGroup[]>()
  for (let n = 0; n < projects.length; n += AT_ONCE) {
    const some = projects.slice(n, n + AT_ONCE).map((project) => usageOf(project, MAX_GROUPS))
    for (const group of (await Promise.all(some)).flat()) {
      if (group.key === undefined) throw tooManyGroups()
      const key = JSON.stringify(group.key)
      merged.set(key, [...(merged.get(key) ?? []), group])
    }
    if (merged.size > MAX_GROUPS) throw tooManyGroups()
  }
  return limited([...merged.values()].map(sumOfGroups), shape)
}

const tooManyGroups = () =>
  new Failure(
    'too-large',
    `The answer has more than ${MAX_GROUPS} groups. Use longer buckets or a shorter range.`,
  )

const sumOfGroups = (groups: readonly UsageGroup[]): UsageGroup => ({
  key: groups[0]!.key,
  groups: 1,
  figures: sumOfFigures(groups.map(({ figures }) => figures)),
  previous:
    groups[0]!.previous === undefined
      ? undefined
      : sumOfFigures(groups.flatMap(({ previous }) => previous ?? [])),
})

const limited = (
  groups: readonly UsageGroup[],
  { groupBy, orderBy, limit }: Shape,
): readonly UsageGroup[] => {
  const valueOf = ({ key, figures }: UsageGroup, field: string) => {
    const place = groupBy.findIndex(({ name }) => name === field)
    return place < 0 ? figures[field as Measure] : key![place]!
  }
  const terms = [...orderBy, ...groupBy.map(({ name }) => ({ field: name, direction: 'asc' as const }))]
  const sorted = [...groups].sort((one, other) => {
    for (const { field, direction } of terms) {
      const [a, b] = [valueOf(one, field), valueOf(other, field)]
      if (a !== b) return a < b === (direction === 'asc') ? -1 : 1
    }
    return 0
  })
  const rest = sorted.slice(limit)
  if (rest.length === 0) return sorted
  return [...sorted.slice(0, limit), { ...sumOfGroups(rest), key: undefined, groups: rest.length }]
}
