interface SignedLog {
  readonly verifier_keys: readonly string[]
  readonly data: readonly { readonly note: string }[]
}

/**
 * The key that verifies the latest checkpoint. After a rotation it is not the newest key as long as nothing was signed since.
 * A key is NAME+ID+BASE64; a signature line ends with the base64 of the four bytes of the id and the signature.
 */
export const signedBy = ({ verifier_keys, data }: SignedLog): string | undefined => {
  const note = data.at(-1)?.note ?? ''
  const origin = note.split('\n')[0]
  const signers = new Set(
    note
      .split('\n')
      .filter((line) => line.startsWith(`— ${origin} `))
      .map((line) => idIn(line.slice(line.lastIndexOf(' ') + 1))),
  )
  return verifier_keys.find((key) => {
    const [name, id = ''] = key.split('+')
    return name === origin && signers.has(id)
  })
}

const ID_BYTES = 4

const idIn = (base64: string): string =>
  Array.from(atob(base64).slice(0, ID_BYTES), (byte) =>
    byte.charCodeAt(0).toString(16).padStart(2, '0'),
  ).join('')
