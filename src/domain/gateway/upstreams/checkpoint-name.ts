/** A checkpoint of a trained model. */
export interface CheckpointPlace {
  readonly entity: string
  readonly project: string
  readonly model: string
  readonly step: number
}

const VARIABLE = /\$\{([^}]*)\}/g

const VARIABLES: ReadonlySet<string> = new Set<keyof CheckpointPlace>(['entity', 'project', 'model', 'step'])

export const isCheckpointVariable = (name: string): name is keyof CheckpointPlace => VARIABLES.has(name)

export const checkpointVariablesIn = (template: string): readonly string[] =>
  [...template.matchAll(VARIABLE)].map(([, name]) => name!)

/** The name of a checkpoint at an upstream. */
export const checkpointName = (template: string, place: CheckpointPlace): string =>
  template.replace(VARIABLE, (text, name: string) =>
    isCheckpointVariable(name) ? String(place[name]) : text,
  )
