import type { ServedModel } from './content.js'
import type { Upstream, Upstreams } from './directory.js'

/** A model at one upstream. */
export interface Target {
  readonly upstream: Upstream
  readonly model: ServedModel
  /** The id of the offered model whose health and concurrency it shares, if that is not its own. */
  readonly sharesWith?: string
}

const serves = ({ id, aliases }: ServedModel, name: string): boolean => id === name || aliases.includes(name)

/** A team sees its own upstreams and the operator's. */
const isSeenBy =
  (teams: 'all' | readonly string[]) =>
  ({ team, content }: Upstream): boolean =>
    content.enabled && (team === null || teams === 'all' || teams.includes(team))

/**
 * The targets of a model for some teams, by its id or an alias; empty for an unknown model. All targets are of one model
 * of one owner: the operator, else the team of the request, else the first team that has the model. The operator's file
 * takes precedence over what the operator made by API.
 */
export const targetsOf = (
  upstreams: Upstreams,
  teams: 'all' | readonly string[],
  name: string,
  forTeam?: string,
): readonly Target[] => {
  const targets = [...upstreams.values()]
    .filter(isSeenBy(teams))
    .flatMap((upstream) =>
      upstream.content.models.filter((model) => serves(model, name)).map((model) => ({ upstream, model })),
    )
  const owners = new Set(targets.map(({ upstream }) => upstream.team))
  const others = [...owners].filter((team) => team !== null).sort()
  const owner = owners.has(null) ? null : owners.has(forTeam ?? null) ? forTeam : others[0]
  const owned = targets.filter(({ upstream }) => upstream.team === owner)
  const configured = owned.find(({ upstream }) => upstream.isConfigured === true)
  return configured === undefined ? owned : owned.filter(({ model }) => model.id === configured.model.id)
}

/** A model of an upstream by id, if both exist. */
export const modelOf = (
  upstreams: Upstreams,
  upstreamId: string,
  modelId: string,
): ServedModel | undefined => {
  const content = upstreams.get(upstreamId)?.content
  return content?.enabled === true ? content.models.find(({ id }) => id === modelId) : undefined
}

/** The ids of all models that some teams may use, sorted. */
export const modelsOf = (upstreams: Upstreams, teams: 'all' | readonly string[]): readonly string[] => {
  const ids = [...upstreams.values()]
    .filter(isSeenBy(teams))
    .flatMap(({ content }) => content.models.map(({ id }) => id))
  return [...new Set(ids)].sort()
}
