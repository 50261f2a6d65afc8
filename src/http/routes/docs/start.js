// Runs in the browser: renders the OpenAPI document into the page.
SwaggerUIBundle({
  url: document.querySelector("#description").dataset.url,
  dom_id: "#description",
  deepLinking: true,
  // The default sends the document to an external validator.
  validatorUrl: null,
});
