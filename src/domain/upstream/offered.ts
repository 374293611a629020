import type { ServedModel } from './content.js'
import type { Upstream, Upstreams } from './directory.js'

/** A model at one upstream. */
export interface Target {
  readonly upstream: Upstream
  readonly model: ServedModel
}

const serves = ({ id, aliases }: ServedModel, name: string): boolean => id === name || aliases.includes(name)

/** Whether a team sees an upstream: its own, and the operator's. */
const isSeenBy =
  (teams: 'all' | readonly string[]) =>
  ({ team, content }: Upstream): boolean =>
    content.enabled && (team === null || teams === 'all' || teams.includes(team))

/** Where a model can be had by those teams, under its id or an alias; empty for an unknown one. */
export const targetsOf = (
  upstreams: Upstreams,
  teams: 'all' | readonly string[],
  name: string,
): readonly Target[] =>
  [...upstreams.values()]
    .filter(isSeenBy(teams))
    .flatMap((upstream) =>
      upstream.content.models.filter((model) => serves(model, name)).map((model) => ({ upstream, model })),
    )

/** The ids of the models that those teams may use, in order. */
export const modelsOf = (upstreams: Upstreams, teams: 'all' | readonly string[]): readonly string[] => {
  const ids = [...upstreams.values()]
    .filter(isSeenBy(teams))
    .flatMap(({ content }) => content.models.map(({ id }) => id))
  return [...new Set(ids)].sort()
}
