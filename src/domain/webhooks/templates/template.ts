/** A secret in a template: the webhook's access token, or its other secret by name. */
export type SecretReference =
  { readonly kind: 'access_token' } | { readonly kind: 'secret'; readonly name: string }

export type Reference = { readonly kind: 'variable'; readonly name: string } | SecretReference

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'reference'
      readonly to: Reference
      /** The reference is inside a JSON string. */
      readonly inString: boolean
      /** How many JSON texts, each a string of the next, are around the value within that string. */
      readonly nested: number
    }

/** A parsed template. Substituted values are not parsed again. */
export interface Template {
  readonly parts: readonly Part[]
}

export const MAX_BODY_BYTES = 256 * 1024

const referencesOf = ({ parts }: Template): readonly Reference[] =>
  parts.flatMap((part) => (part.kind === 'reference' ? [part.to] : []))

/** The template's variables in order, without repeats. */
export const variablesIn = (template: Template): readonly string[] => {
  const names = referencesOf(template).flatMap((to) => (to.kind === 'variable' ? [to.name] : []))
  return [...new Set(names)]
}

/** The template's secrets, with repeats. */
export const secretsIn = (template: Template): readonly SecretReference[] =>
  referencesOf(template).flatMap((to) => (to.kind === 'variable' ? [] : [to]))
