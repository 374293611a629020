import type { ServedModel } from './content.js'
import type { Upstream, Upstreams } from './directory.js'

/** A model at one upstream. */
export interface Target {
  readonly upstream: Upstream
  readonly model: ServedModel
}

export const serves = ({ id, aliases }: ServedModel, name: string): boolean =>
  id === name || aliases.includes(name)

/** Whether a team sees an upstream: its own, and the operator's. */
const isSeenBy =
  (teams: 'all' | readonly string[]) =>
  ({ team, content }: Upstream): boolean =>
    content.enabled && (team === null || teams === 'all' || teams.includes(team))

/**
 * Where a model can be had by those teams, under its id or an alias; empty for an unknown one. All are of one owner: the
 * operator, or else the team that it is asked for, or else the first of the teams that has it.
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

/** A model of an upstream under its id, as long as both are offered. */
export const modelOf = (
  upstreams: Upstreams,
  upstreamId: string,
  modelId: string,
): ServedModel | undefined => {
  const content = upstreams.get(upstreamId)?.content
  return content?.enabled === true ? content.models.find(({ id }) => id === modelId) : undefined
}

/** The ids of the models that those teams may use, in order. */
export const modelsOf = (upstreams: Upstreams, teams: 'all' | readonly string[]): readonly string[] => {
  const ids = [...upstreams.values()]
    .filter(isSeenBy(teams))
    .flatMap(({ content }) => content.models.map(({ id }) => id))
  return [...new Set(ids)].sort()
}

/**
 * Without what was made in the log under a name that the operator's file has come to give to another model: the file
 * goes before, as nobody may keep an operator from offering a model.
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
