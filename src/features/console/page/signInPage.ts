import { html, type Html } from "../../../ui/html.ts";
import { pageDocument } from "./pageDocument.ts";

/** What is shown without a token: nothing but the way to give one. The script keeps it for this tab, and asks with it for the page. */
export const signInPage = (): Html =>
  pageDocument(
    "Sign in",
    html`<main class="sign-in">
      <form id="sign-in" autocomplete="off">
        <h1>Migration</h1>
        <p class="about">
          This gateway’s operators have a token, <code>ADMIN_TOKEN</code>. It is kept for this tab alone.
        </p>
        <p class="field scripted">
          <label for="token">Token</label>
          <input id="token" name="token" type="password" required autocomplete="current-password" />
        </p>
        <p class="failed-to" role="alert"></p>
        <p class="scripted"><button type="submit" class="main">Sign in</button></p>
        <noscript>
          <p class="about">
            Signing in needs a script. Without one: <code>curl -H "Authorization: Bearer $ADMIN_TOKEN"</code> and this
            address.
          </p>
        </noscript>
      </form>
    </main>`,
  );
