import { Button, PasswordInput } from '@mantine/core'
import { useRef, useState } from 'react'
import { api, dataOf, type SignedIn } from './api.js'
import { messageOf } from './states.js'
import { onSubmit } from './on-submit.js'

interface Props {
  readonly onSignedIn: (user: SignedIn) => void
}

/** The key is sent once and kept nowhere: not in storage, in the address or in a cache of queries. */
export const SignInForm = ({ onSignedIn }: Props) => {
  const input = useRef<HTMLInputElement>(null)
  const [error, setError] = useState<string>()
  const [isSending, setSending] = useState(false)
  const signIn = async () => {
    const api_key = input.current!.value.trim()
    if (api_key === '') {
      setError('Enter an API key.')
      input.current!.focus()
      return
    }
    setSending(true)
    try {
      const user = await dataOf(api.POST('/api/sessions', { body: { api_key } }))
      input.current!.value = ''
      onSignedIn(user)
    } catch (failure) {
      setError(messageOf(failure))
      input.current?.focus()
    } finally {
      setSending(false)
    }
  }
  const submit = onSubmit(() => {
    void signIn()
  })
  return (
    <form onSubmit={submit} className="form">
      <PasswordInput
        ref={input}
        label="API key"
        description="The first start prints the administrator's key. Administrators of a team issue keys to its members."
        autoComplete="off"
        data-autofocus
        autoFocus
        error={error}
        onChange={() => setError(undefined)}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
      />
      <Button type="submit" loading={isSending}>
        Sign in
      </Button>
    </form>
  )
}

export const SignInPage = ({ onSignedIn }: Props) => (
  <main className="welcome">
    <h1>Tallytree</h1>
    <p className="secondary">Sign in to see what your AI programs do, and what they use.</p>
    <SignInForm onSignedIn={onSignedIn} />
  </main>
)
