import { versionName } from './version-name.js'

export interface ObjectState {
  /** By version number. */
  readonly versions: Version[]
  /** Version number by alias. */
  readonly aliases: Map<string, number>
}

export interface Version {
  readonly digest: string
  readonly deleted: boolean
  readonly tags: ReadonlySet<string>
}

/** The version number that a text refers to, unless it is missing or deleted. */
export const versionNamed = (state: ObjectState, text: string): number | undefined => {
  const index = indexNamed(state, text)
  return index === undefined || state.versions[index]?.deleted !== false ? undefined : index
}

/** The number of the version that a text refers to, which may be deleted or missing. */
export const indexNamed = (state: ObjectState, text: string): number | undefined => {
  const name = versionName(text)
  switch (name.by) {
    case 'latest':
      return latestOf(state)
    case 'index':
      return name.index
    case 'digest':
      return state.versions.findIndex(({ digest }) => digest === name.digest)
    case 'alias':
      return state.aliases.get(name.alias)
  }
}

/** The newest version; the newest deleted one if all are deleted. */
export const latestOf = ({ versions }: ObjectState): number => {
  const alive = versions.findLastIndex(({ deleted }) => !deleted)
  return alive < 0 ? versions.length - 1 : alive
}

export const aliasesOf = ({ aliases }: ObjectState, index: number): readonly string[] =>
  [...aliases].flatMap(([alias, target]) => (target === index ? [alias] : []))
