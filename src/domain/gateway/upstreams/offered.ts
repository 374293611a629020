import type { ServedModel } from './content.js'
import type { Upstream, Upstreams } from './directory.js'

/** A model at one upstream. */
export interface Target {
  readonly upstream: Upstream
  readonly model: ServedModel
  /** The id of the offered model whose health and concurrency it shares, if that is not its own. */
  readonly sharesWith?: string
}

export const serves = ({ id, aliases }: ServedModel, name: string): boolean =>
  id === name || aliases.includes(name)

/** A team sees its own upstreams and the operator's. */
const isSeenBy =
  (teams: 'all' | readonly string[]) =>
  ({ team, content }: Upstream): boolean =>
    content.enabled && (team === null || teams === 'all' || teams.includes(team))

/**
 * The targets of a model for some teams, by its id or an alias; empty for an unknown model. All targets have one
 * owner: the operator, else the team of the request, else the first team that has the model.
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
  return targets.filter(({ upstream }) => upstream.team === owner)
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

/**
 * Drops upstream names that the operator's file now uses for another model: teams must not block the operator from
 * offering a model.
 */
export const withoutShadowed = (upstreams: Upstreams): Upstreams => {
  const configured = [...upstreams.values()].filter(({ isConfigured }) => isConfigured === true)
  if (configured.length === 0) return upstreams
  return new Map(
    [...upstreams].map(([id, upstream]) => [
      id,
      upstream.isConfigured === true
        ? upstream
        : {
            ...upstream,
            content: {
              ...upstream.content,
              models: upstream.content.models.filter((model) => !isShadowed(configured, upstream, model)),
            },
          },
    ]),
  )
}

const isShadowed = (configured: readonly Upstream[], { team }: Upstream, model: ServedModel): boolean =>
  configured.some(({ content }) =>
    content.models.some(
      (other) =>
        !(team === null && other.id === model.id) &&
        [model.id, ...model.aliases].some((name) => serves(other, name)),
    ),
  )
